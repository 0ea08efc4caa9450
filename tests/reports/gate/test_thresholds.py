"""What passes for noise, as a pyproject.toml says it."""

import pytest

from rnnbounds.reports.gate.settings import SettingsError, Thresholds, load_thresholds


def test_the_defaults(tmp_path):
    """No file, none of our table: the defaults."""
    path = tmp_path / "pyproject.toml"
    assert load_thresholds(path) == Thresholds()
    path.write_text("[project]\nname = 'x'\n")
    assert load_thresholds(path) == Thresholds()


def test_what_is_set(tmp_path):
    """Each by its name; a number may be whole."""
    path = tmp_path / "pyproject.toml"
    path.write_text("[tool.rnnbounds]\ntightness = 0\nfactor = 0.25\nwindow = 2\ngone = true\n")
    assert load_thresholds(path) == Thresholds(tightness=0.0, factor=0.25, window=2, gone=True)


@pytest.mark.parametrize(
    "words",
    [
        "tool = 1",
        "[tool]\nrnnbounds = []",
        "[tool.rnnbounds]\ntigthness = 0.1",
        "[tool.rnnbounds]\ntightness = -1",
        "[tool.rnnbounds]\ntightness = nan",
        "[tool.rnnbounds]\nfactor = inf",
        "[tool.rnnbounds]\nfactor = '0.5'",
        "[tool.rnnbounds",
        "[tool.rnnbounds]\n'\\u001b[31m<script>' = 1",
        "x = " + "[" * 10**5,
    ],
)
def test_what_cannot_be_read(tmp_path, words):
    """One line that names the file and what may be set; a table of another tool is not ours."""
    path = tmp_path / "pyproject.toml"
    path.write_text(words)
    if words == "tool = 1":
        assert load_thresholds(path) == Thresholds()
        return
    with pytest.raises(SettingsError) as caught:
        load_thresholds(path)
    line = str(caught.value)
    assert line.startswith(str(path))
    assert line.isprintable()
    assert "[tool.rnnbounds] may set tightness, factor, window, gone" in line


def test_what_is_no_file(tmp_path):
    """A folder, or bytes that are no text."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").write_bytes(b"\xff\xfe")
    for name in "ab":
        with pytest.raises(SettingsError):
            load_thresholds(tmp_path / name)
