"""The commit that a run was made of."""

import subprocess

from rnnbounds.properties.runs.versions import COMMIT_VARIABLES, current_commit

ASKED = ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "a")


def test_the_commit_of_the_folder(tmp_path, monkeypatch):
    """None outside of a repository; its hash within, marked where files differ from it."""
    for name in (*COMMIT_VARIABLES, "GIT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert current_commit() == ""
    file = tmp_path / "file"
    file.write_text("1")
    for arguments in (("init", "-q"), ("add", "file"), ASKED):
        subprocess.run(("git", *arguments), check=True)
    made = current_commit()
    assert len(made) == 40
    file.write_text("2")
    assert current_commit() == f"{made}-dirty"


def test_where_there_is_no_git(tmp_path, monkeypatch):
    """The commit comes from a pipeline's environment, if it is a hash."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("GITHUB_SHA", "<script>")
    monkeypatch.setenv("CI_COMMIT_SHA", "a" * 40)
    assert current_commit() == "a" * 40
    monkeypatch.delenv("CI_COMMIT_SHA")
    assert current_commit() == ""
