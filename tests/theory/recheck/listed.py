"""Run as a file, it writes the list of open steps anew, after proofs have changed."""

import json

from made_wrong import FORMS, document, laws

from rnnbounds.theory.recheck import check
from rnnbounds.theory.recheck.check import KEPT

if __name__ == "__main__":
    rows = []
    for name in FORMS:
        verdict = check(document(name), laws())
        if verdict.refused:
            raise SystemExit(f"{name}: {verdict.refused}")
        found = {part.step: part.rests for part in verdict.open}
        rows.append(f" {json.dumps(name)}: {json.dumps(found, ensure_ascii=False)}")
    KEPT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
