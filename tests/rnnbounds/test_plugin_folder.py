"""`--bounds-report` of a variable that was not set is an error, not a session without a report."""


def test_an_empty_folder_is_refused(python, plugin, tmp_path):
    """Before anything is collected; nothing is written, and the line says what to do."""
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    result = python("-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider", "--bounds-report", "")
    assert result.returncode == 4
    assert "--bounds-report is empty; name a folder, or leave it out" in result.stderr
