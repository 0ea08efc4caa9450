"""The entries of what is cited: each source has one, and each can be cited as it is."""

import re

import pytest

from rnnbounds.theory import CLAIMS
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.bibliography import BIBLIOGRAPHY, bibtex, cited

# As BibTeX's own styles require them.
REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "book": {"title", "publisher", "year"},
    "incollection": {"author", "title", "booktitle", "publisher", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "misc": {"author", "title", "year"},
}
# In people's papers: none is ever renamed.
KEYS = (
    "miller2019stable miller2018when emami2019input arjovsky2016unitary cho2014learning "
    "pascanu2014how williams1990efficient "
    "angeli2002lyapunov "
    "horn2013matrix halmos1950normal rudin1976principles hiriart2001fundamentals "
    "ax1971schanuel lang2002algebra ahlfors1979complex halmos1960naive abramowitz1964handbook"
).split()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_source_of_a_claim_has_its_entries(claim):
    """One for each work that its source names."""
    works = claim.source.paper.split(";")
    assert len(cited(claim.source.text)) >= len(works)


@pytest.mark.parametrize("source", sorted({axiom.source for axiom in AXIOMS}))
def test_every_source_of_a_textbook_theorem_has_its_entry(source):
    """As with claims."""
    assert cited(source)


@pytest.mark.parametrize("entry", BIBLIOGRAPHY, ids=lambda entry: entry.key)
def test_entries_are_whole(entry):
    """The fields that BibTeX asks for, in ASCII with balanced braces; cited by somebody."""
    assert REQUIRED[entry.kind] <= set(entry.fields)
    assert {"author", "editor"} & set(entry.fields)
    assert re.fullmatch(r"\d{4}", entry.fields["year"])
    assert entry.key.endswith(entry.key.split(entry.fields["year"])[1])
    assert entry.text.isascii()
    assert entry.text.count("{") == entry.text.count("}")
    sources = [c.source.text for c in CLAIMS] + [a.source for a in AXIOMS]
    assert any(entry in cited(source) for source in sources)


def test_keys_stay():
    """They are unique, and those that were given once."""
    assert [entry.key for entry in BIBLIOGRAPHY] == KEYS


def test_the_two_papers():
    """As published, with their preprints."""
    text = bibtex(["Emami et al., Theorem 3.1", "Miller & Hardt", "Miller & Hardt"])
    assert [line for line in text.splitlines() if line.startswith("@")] == [
        "@inproceedings{miller2019stable,", "@inproceedings{emami2019input,",
    ]  # fmt: skip
    assert "eprint = {1805.10369}" in text
    assert "eprint = {1910.13672}" in text
