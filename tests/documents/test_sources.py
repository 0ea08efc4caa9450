"""The table of the sources' items misses none of them, and no form of any claim."""

import re
from pathlib import Path

from rnnbounds.theory import CLAIMS

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "sources.md").read_text()
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]] for line in TEXT.splitlines() if "`" in line
]
ITEMS = {
    "Miller & Hardt": (
        "Definition 1", "Proposition 1", "Lemma 1", "Lemma 2", "Lemma 3", "Proposition 3",
        "Proposition 4", "Theorem 1", "a linear system", "an RNN", "gradients of stable models",
        "unstable models", "gradient descent diverges", "projections",
    ),
    "Emami": ("Theorem 3.1", "Theorem 3.2", "Theorem 4.1"),
    "Other sources": ("Miller", "Pascanu", "Cho", "Williams", "Angeli", "Arjovsky"),
}  # fmt: skip


def test_no_item_is_missed():
    """Each stands in its source's part, with forms, with what they are against it, and why."""
    for part in TEXT.split("\n## ")[1:]:
        (source,) = (name for name in ITEMS if part.startswith(name))
        items = [row.split("|")[1] for row in part.splitlines() if "`" in row]
        for asked in ITEMS[source]:
            assert any(asked in item for item in items), asked
    for item, forms, against, why in ROWS:
        assert "" not in (item, why), forms
        assert against in {"equal", "sharper", "weaker"}, item


def test_each_form_stands_once():
    """No form of a claim is left out, and none is named that there is not."""
    named = re.findall(r"`([a-z0-9-]+/[a-z-]+)`", TEXT)
    forms = {f"{claim.id}/{form.name}" for claim in CLAIMS for form in claim.forms}
    assert set(named) == forms
    numbered = {claim.source.number for claim in CLAIMS}
    for number in ("Lemma 1", "Lemma 2", "Lemma 3", "Theorem 1", "Theorem 3.1", "Theorem 4.1"):
        assert any(number in text for text in numbered), number
