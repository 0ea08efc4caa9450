"""What passes for noise, as a pyproject.toml says it."""

import pytest

from rnnbounds.reports.gate.settings import (
    SettingsError,
    Thresholds,
    load_model_settings,
    load_thresholds,
)


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
    ("words", "told"),
    [
        ("[tool]\nrnnbounds = []", "[tool.rnnbounds] may set tightness, factor, window, gone"),
        ("[tool.rnnbounds", "[tool.rnnbounds] may set tightness, factor, window, gone"),
        ("x = " + "[" * 10**5, "[tool.rnnbounds] may set tightness, factor, window, gone"),
        ("[tool.rnnbounds]\ntigthness = 0.1", "no key tigthness; did you mean tightness?"),
        ("[tool.rnnbounds]\nmodel = 1", "no key model; did you mean models?"),
        ("[tool.rnnbounds]\neps = 1", "it may set tightness, factor, window, gone"),
        (
            "[tool.rnnbounds]\n'\\u001b[31m<script>' = 1",
            "it may set tightness, factor, window, gone",
        ),
        ("[tool.rnnbounds]\ntightness = -1", "tightness: Expected float >= 0.0; give it another"),
        ("[tool.rnnbounds]\ntightness = nan", "tightness: Expected float >= 0.0; give it another"),
        ("[tool.rnnbounds]\nfactor = inf", "factor: Expected float <= 1.79"),
        ("[tool.rnnbounds]\nfactor = '0.5'", "factor: Expected float, got str; give it another"),
        ("[tool.rnnbounds]\nwindow = 9223372036854775807", "window: Expected int <= 90071992547"),
    ],
)
def test_what_cannot_be_read(tmp_path, words, told):
    """One line that names the file and what is wrong, by `compare` and by `guard`."""
    path = tmp_path / "pyproject.toml"
    path.write_text(words)
    with pytest.raises(SettingsError) as caught:
        load_thresholds(path)
    line = str(caught.value)
    assert line.startswith(str(path))
    assert line.isprintable()
    assert told in line
    with pytest.raises(SettingsError) as caught:
        load_model_settings(path)
    assert str(caught.value) == line or "[tool.rnnbounds] may set" in told


def test_a_table_of_another_tool(tmp_path):
    """It is not ours."""
    path = tmp_path / "pyproject.toml"
    path.write_text("tool = 1")
    assert load_thresholds(path) == Thresholds()


def test_what_is_no_file(tmp_path):
    """A folder, or bytes that are no text."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").write_bytes(b"\xff\xfe")
    for name in "ab":
        with pytest.raises(SettingsError):
            load_thresholds(tmp_path / name)
