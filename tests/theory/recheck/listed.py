"""Run as a file, it writes the list of open steps anew, after proofs have changed."""

import json

from made_wrong import FORMS, document, laws

from rnnbounds.theory.recheck import check_document
from rnnbounds.theory.recheck.check import UNSETTLED_FILE

if __name__ == "__main__":
    rows = []
    for name in FORMS:
        verdict = check_document(document(name), laws())
        if verdict.refusal:
            raise SystemExit(f"{name}: {verdict.refusal}")
        found = {part.step: part.rests_on for part in verdict.open_steps}
        rows.append(f" {json.dumps(name)}: {json.dumps(found, ensure_ascii=False)}")
    UNSETTLED_FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
