"""What a release states of itself: versions, changes, deprecations, citation, ranges."""

import re
import tarfile
import tomllib
import zipfile
from datetime import date
from importlib import import_module
from pathlib import Path

import yaml
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

import rnnbounds
from rnnbounds.impl.errors import RENAMINGS

ROOT = Path(__file__).parents[2]
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ROOMS = ("theory", "impl", "properties", "reports")
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def version(text: str) -> tuple[int, ...]:
    """The numbers of a version, to compare."""
    return tuple(map(int, text.split(".")))


def test_the_changelog_is_read_by_people():
    """Kinds of changes in order, one line each of at most 120 characters, no seeds."""
    assert len(CHANGES) <= 170
    assert all(len(line) <= 120 for line in CHANGES)
    assert not any(re.search(r"\bseeds? \d", line, re.IGNORECASE) for line in CHANGES)
    start = next(i for i, line in enumerate(CHANGES) if line.startswith("## "))
    body = [line for line in CHANGES[start:] if line]
    assert all(re.match(r"## \[|#{3,4} |- ", line) for line in body)
    kinds: list[str] = []
    for line in body:
        if line.startswith("## "):
            kinds = []
        elif line.startswith("### "):
            kinds.append(line.removeprefix("### "))
            assert kinds == [kind for kind in KINDS if kind in kinds]


def test_one_version():
    """The package's is the latest of the changelog and the cited one, of one day."""
    found = [re.fullmatch(r"## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", line) for line in CHANGES]
    number, day = next(match for match in found if match).groups()
    assert number == rnnbounds.__version__ == CITATION["version"]
    assert date.fromisoformat(day).isoformat() == CITATION["date-released"]
    assert CHANGES.index("## [Unreleased]") < CHANGES.index(f"## [{number}] - {day}")


def test_the_citation_is_cff():
    """The keys that CFF 1.2.0 requires, of a kind that it knows; persons and entities are named."""
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(CITATION)
    assert CITATION["type"] in ("software", "dataset")
    assert CITATION["license"] == PROJECT["project"]["license"]
    for work in (CITATION, *CITATION["references"]):
        assert work["title"]
        assert work["authors"]
        assert all({"name", "family-names"} & set(author) for author in work["authors"])
    for work in CITATION["references"]:
        assert work["type"] in ("conference-paper", "article", "book", "report")
        assert all({"type", "value"} == set(one) for one in work["identifiers"])


def test_no_deprecation_is_overdue():
    """What is to be an error from some version on, is one in it."""
    for module in (
        "rnnbounds.impl.certificate.certify",
        "rnnbounds.impl.convert.truncate",
        "rnnbounds.assertions",
    ):
        import_module(module)
    assert {old for _, old, _ in RENAMINGS} >= {"input_bound"}
    due = [name for name in RENAMINGS if version(name[2]) <= version(rnnbounds.__version__)[:2]]
    assert due == [], "make errors of these: impl.errors.refused"


def test_ranges_hold_what_is_tested():
    """Each dependency has a lowest version, not above the tested one."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    tested = dict(line.split("==") for line in lines if "==" in line)
    extras = PROJECT["project"]["optional-dependencies"].values()
    libraries = {one for extra in extras for one in extra if not one.startswith("rnnbounds[")}
    for asked in [*PROJECT["project"]["dependencies"], *sorted(libraries)]:
        name, lowest = re.fullmatch(r"([a-z0-9-]+)>=([0-9.]+)(?:,.*)?", asked).groups()
        numbers = re.match(r"[0-9.]+", tested[name])[0]
        assert version(lowest) <= version(numbers), asked


def test_a_wheel_is_built_from_the_sdist(tmp_path: Path) -> None:
    """With every module, though the sdist has none of the links of the checkout."""
    archive = next(SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))
    with tarfile.open(archive) as unpacked:
        assert not [member.name for member in unpacked if member.islnk() or member.issym()]
        unpacked.extractall(tmp_path, filter="data")
    source = tmp_path / Path(archive).name.removesuffix(".tar.gz")
    wheel = next(WheelBuilder(str(source)).build(directory=str(tmp_path), versions=["standard"]))
    with zipfile.ZipFile(wheel) as files:
        built = {name for name in files.namelist() if name.endswith(".py")}
    rooms = {
        f"rnnbounds/{p.relative_to(ROOT)}" for room in ROOMS for p in ROOT.glob(f"{room}/**/*.py")
    }
    face = {str(path.relative_to(ROOT)) for path in ROOT.glob("rnnbounds/**/*.py")}
    assert built == rooms | face
    assert (source / "tests" / "documents" / "test_release.py").is_file()
