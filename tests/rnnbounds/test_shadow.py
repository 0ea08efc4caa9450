"""A user's folder with the name of a room is named, not imported."""

import importlib.util

import pytest

import rnnbounds
from rnnbounds.shadow import ROOMS, ShadowedError, check_rooms

PROGRAM = "from rnnbounds.cli import main; import sys; sys.exit(main())"


@pytest.mark.parametrize("room", ROOMS)
def test_a_folder_that_shadows_a_room_is_named(python, tmp_path, room):
    """The first use of rnnbounds says which file shadows which room, before that file runs; the
    command line in one line, exit 2."""
    (tmp_path / room).mkdir()
    (tmp_path / room / "__init__.py").write_text("raise RuntimeError('this must not run')")
    result = python("-c", "import rnnbounds; rnnbounds.certify")
    assert result.returncode == 1
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("rnnbounds.shadow.ShadowedError: ")
    assert str(tmp_path / room / "__init__.py") in last
    assert f"shadows the package {room!r}" in last
    assert "rename that file" in last
    result = python("-c", PROGRAM, "claims")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"rnnbounds: {last.partition('ShadowedError: ')[2]}\n"


def test_the_plugin_stays_out_of_other_projects(python, plugin, tmp_path):
    """A project with folders of these names runs its own tests, and torch is not imported."""
    for room in ROOMS:
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").touch()
    (tmp_path / "test_own.py").write_text(
        "import sys\n\ndef test_own():\n    assert 'torch' not in sys.modules\n"
    )
    run = ("-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider")
    assert python(*run).returncode == 0
    asked = python(*run, "--bounds-report", "out")
    assert asked.returncode == 4
    assert "shadows the package" in asked.stderr


def test_a_file_just_below_the_house_shadows_too(tmp_path, monkeypatch):
    """A module in a subfolder of the house is not taken for the room beside it."""
    house = tmp_path / "house"
    for room in ROOMS:
        (house / room).mkdir(parents=True)
        (house / room / "__init__.py").touch()
    (house / "examples").mkdir()
    (house / "examples" / "theory.py").touch()
    places = {room: house / room / "__init__.py" for room in ROOMS}

    def find(room):
        return importlib.util.spec_from_file_location(room, places[room])

    monkeypatch.setattr("rnnbounds.shadow.find_spec", find)
    monkeypatch.setattr("rnnbounds.shadow.__file__", str(house / "rnnbounds" / "shadow.py"))
    check_rooms()
    places["theory"] = house / "examples" / "theory.py"
    with pytest.raises(ShadowedError, match=r"theory\.py shadows"):
        check_rooms()


def test_a_missing_room_is_named(monkeypatch):
    """A broken installation says so."""
    monkeypatch.setattr("rnnbounds.shadow.find_spec", lambda room: None)
    with pytest.raises(ShadowedError, match=r"'theory' is missing in .*; install rnnbounds again"):
        check_rooms()


def test_the_public_names_are_there():
    """Everything in __all__ exists, and the table of claims is theory's."""
    assert all(hasattr(rnnbounds, name) for name in rnnbounds.__all__)
    assert set(rnnbounds.__all__) <= set(dir(rnnbounds))
    with pytest.raises(AttributeError, match="no attribute 'certifies'"):
        rnnbounds.certifies  # noqa: B018
    assert {claim.id for claim in rnnbounds.CLAIMS} >= {"truncation", "certified-norm"}
