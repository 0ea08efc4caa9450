import shlex

import pytest

from rnnbounds.reports.redact import KEEP, redact, redact_command


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("verify --out /home/ada/secret/report", "verify --out …/report"),
        ("certify '/home/ada/model.pt' --out=/tmp/x/", "certify '…/model.pt' --out=…/"),
        ("verify --out ~/secret/report -n 2", "verify --out …/report -n 2"),
        (r"verify --out C:\Users\ada\report", "verify --out …/report"),
        ("verify --out report/today", "verify --out report/today"),
        ("attack 'h_gap <= S_0*lam**k/(1-lam)'", "attack 'h_gap <= S_0*lam**k/(1-lam)'"),
        ("Linux-6.1-x86_64 on adas-laptop", "Linux-6.1-x86_64 on host"),
    ],
)
def test_redacted(text, told, monkeypatch):
    """Folders and the machine's name are left out, file names and formulas stay."""
    assert redact(text, "adas-laptop") == told
    monkeypatch.setenv(KEEP, "1")
    assert redact(text, "adas-laptop") == text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("verify", "--out", "/home/alice smith/secret/out"), "verify --out …/out"),
        (("verify", "--out=/home/alice smith/my secret/out"), "verify --out=…/out"),
        (("attack", "h_gap <= S_0*lam**k/(1-lam)"), "attack 'h_gap <= S_0*lam**k/(1-lam)'"),
        (("replay", '{"n": 1}', "report/run.json"), "replay '{\"n\": 1}' report/run.json"),
    ],
)
def test_a_command_is_redacted_word_by_word(words, told, monkeypatch):
    """A folder with a blank in its name is one folder; what needs quotes keeps them."""
    assert shlex.split(redact_command(words)) == shlex.split(told)
    monkeypatch.setenv(KEEP, "1")
    assert shlex.split(redact_command(words)) == list(words)
