"""The works that claims and textbook theorems cite, as BibTeX entries whose keys never change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A BibTeX entry; `cited` is how a source in this room begins to name the work."""

    key: str
    kind: str
    cited: str
    fields: dict[str, str]

    @property
    def text(self) -> str:
        """The entry, one field a line."""
        lines = (f"  {name} = {{{value}}}" for name, value in self.fields.items())
        return f"@{self.kind}{{{self.key},\n" + ",\n".join(lines) + "\n}"

    @property
    def title(self) -> str:
        """The title without LaTeX's braces."""
        return self.fields["title"].replace("{", "").replace("}", "").replace("--", "–")

    @property
    def url(self) -> str:
        """The address of its text on arXiv; empty for other works."""
        arxiv = self.fields.get("archiveprefix") == "arXiv"
        return f"https://arxiv.org/abs/{self.fields['eprint']}" if arxiv else ""


def _entry(key: str, kind: str, cited: str, **fields: str) -> Entry:
    return Entry(key, kind, cited, fields)


def _arxiv(number: str) -> dict[str, str]:
    return {"eprint": number, "archiveprefix": "arXiv"}


BIBLIOGRAPHY: tuple[Entry, ...] = (
    _entry(
        "miller2019stable", "inproceedings", "Miller & Hardt",
        author="Miller, John and Hardt, Moritz", title="Stable Recurrent Models",
        booktitle="International Conference on Learning Representations", year="2019",
        **_arxiv("1805.10369"),
    ),
    _entry(
        "miller2018when", "misc", "Miller, When",
        author="Miller, John", title="When Recurrent Models Don't Need to be Recurrent",
        howpublished="Off the Convex Path (blog)", year="2018",
    ),
    _entry(
        "emami2019input", "inproceedings", "Emami",
        author="Emami, Melikasadat and Sahraee-Ardakan, Mojtaba and Rangan, Sundeep and "
        "Fletcher, Alyson K.",
        title="Input-Output Equivalence of Unitary and Contractive {RNN}s",
        booktitle="Advances in Neural Information Processing Systems", volume="32", year="2019",
        **_arxiv("1910.13672"),
    ),
    _entry(
        "arjovsky2016unitary", "inproceedings", "Arjovsky",
        author="Arjovsky, Martin and Shah, Amar and Bengio, Yoshua",
        title="Unitary Evolution Recurrent Neural Networks",
        booktitle="International Conference on Machine Learning", year="2016",
        **_arxiv("1511.06464"),
    ),
    _entry(
        "cho2014learning", "inproceedings", "Cho et al.",
        author="Cho, Kyunghyun and van Merri{\\\"e}nboer, Bart and Gulcehre, Caglar and "
        "Bahdanau, Dzmitry and Bougares, Fethi and Schwenk, Holger and Bengio, Yoshua",
        title="Learning Phrase Representations using {RNN} Encoder--Decoder for Statistical "
        "Machine Translation",
        booktitle="Conference on Empirical Methods in Natural Language Processing", year="2014",
        **_arxiv("1406.1078"),
    ),
    _entry(
        "pascanu2014how", "inproceedings", "Pascanu",
        author="Pascanu, Razvan and Gulcehre, Caglar and Cho, Kyunghyun and Bengio, Yoshua",
        title="How to Construct Deep Recurrent Neural Networks",
        booktitle="International Conference on Learning Representations", year="2014",
        **_arxiv("1312.6026"),
    ),
    _entry(
        "williams1990efficient", "article", "Williams & Peng",
        author="Williams, Ronald J. and Peng, Jing",
        title="An Efficient Gradient-Based Algorithm for On-Line Training of Recurrent Network "
        "Trajectories",
        journal="Neural Computation", volume="2", number="4", pages="490--501", year="1990",
    ),
    _entry(
        "angeli2002lyapunov", "article", "Angeli",
        author="Angeli, David",
        title="A {Lyapunov} Approach to Incremental Stability Properties",
        journal="IEEE Transactions on Automatic Control", volume="47", number="3",
        pages="410--421", year="2002",
    ),
    _entry(
        "horn2013matrix", "book", "Horn & Johnson",
        author="Horn, Roger A. and Johnson, Charles R.", title="Matrix Analysis",
        edition="Second", publisher="Cambridge University Press", year="2013",
    ),
    _entry(
        "halmos1950normal", "article", "Normal dilations",
        author="Halmos, Paul R.", title="Normal Dilations and Extensions of Operators",
        journal="Summa Brasiliensis Mathematicae", volume="2", pages="125--134", year="1950",
    ),
    _entry(
        "rudin1976principles", "book", "Rudin",
        author="Rudin, Walter", title="Principles of Mathematical Analysis",
        edition="Third", publisher="McGraw-Hill", year="1976",
    ),
    _entry(
        "hiriart2001fundamentals", "book", "Hiriart-Urruty",
        author="Hiriart-Urruty, Jean-Baptiste and Lemar{\\'e}chal, Claude",
        title="Fundamentals of Convex Analysis", publisher="Springer", year="2001",
    ),
    _entry(
        "ax1971schanuel", "article", "Ax, On Schanuel",
        author="Ax, James", title="On {Schanuel}'s Conjectures",
        journal="Annals of Mathematics", volume="93", number="2", pages="252--268", year="1971",
    ),
    _entry(
        "lang2002algebra", "book", "Lang, Algebra",
        author="Lang, Serge", title="Algebra", series="Graduate Texts in Mathematics",
        volume="211", edition="Third", publisher="Springer", year="2002",
    ),
    _entry(
        "ahlfors1979complex", "book", "Ahlfors",
        author="Ahlfors, Lars V.", title="Complex Analysis",
        edition="Third", publisher="McGraw-Hill", year="1979",
    ),
    _entry(
        "halmos1960naive", "book", "Halmos, Naive",
        author="Halmos, Paul R.", title="Naive Set Theory", publisher="Van Nostrand", year="1960",
    ),
    _entry(
        "abramowitz1964handbook", "book", "Abramowitz",
        editor="Abramowitz, Milton and Stegun, Irene A.",
        title="Handbook of Mathematical Functions with Formulas, Graphs, and Mathematical Tables",
        publisher="National Bureau of Standards", year="1964",
    ),
)  # fmt: skip


def cited(source: str) -> tuple[Entry, ...]:
    """The works that a source names, in the order of the bibliography."""
    return tuple(entry for entry in BIBLIOGRAPHY if entry.cited in source)


def bibtex(sources: Iterable[str]) -> str:
    """The entries of all works that the sources name, each once."""
    named = {entry.key for source in sources for entry in cited(source)}
    return "\n\n".join(entry.text for entry in BIBLIOGRAPHY if entry.key in named)
