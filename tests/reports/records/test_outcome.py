import pytest
from msgspec.structs import replace

from rnnbounds.reports import Tally, is_passed, run_problems


def change(run, **fields):
    """The run with its first claim changed."""
    return replace(run, claims=(replace(run.claims[0], **fields), *run.claims[1:]))


def change_first(items, **fields):
    """The tuple with its first record changed."""
    return (replace(items[0], **fields), *items[1:])


def test_a_clean_run_passes(run):
    """A run with nothing against it passes."""
    assert run_problems(run) == []
    assert is_passed(run)


def change_ledger(run, **fields):
    """The run with the first ledger of its first claim changed."""
    return change(run, ledgers=change_first(run.claims[0].ledgers, **fields))


def change_form(run, **fields):
    """The run with the first form of its first claim changed."""
    return change(run, forms=change_first(run.claims[0].forms, **fields))


def change_variant(run, **fields):
    """The run with the first variant of its first claim changed."""
    return change(run, variants=change_first(run.claims[0].variants, **fields))


def with_failed_step(run):
    """The run with a failed step in a ledger that is called proved."""
    return change_ledger(run, steps=change_first(run.claims[0].ledgers[0].steps, verdict="failed"))


SPOILED = {
    "1 check VIOLATED": lambda run, check: change(run, tally=Tally(holds=9, violated=1)),
    "2 checks VIOLATED (form finite)": lambda run, check: change_form(
        run, tally=Tally(holds=9, violated=2)
    ),
    "3 checks UNDECIDED": lambda run, check: change(run, tally=Tally(holds=9, undecided=3)),
    "never tested in earnest": lambda run, check: change(run, tally=Tally(vacuous=5)),
    "no check HOLDS (form finite)": lambda run, check: change_form(run, tally=Tally()),
    "not proved (form finite)": lambda run, check: change_ledger(run, proved=False),
    "no proof ledger (form uniform)": lambda run, check: change(
        run, ledgers=run.claims[0].ledgers[:1]
    ),
    "no form was stated": lambda run, check: change(run, forms=(), ledgers=()),
    "called proved with an unproved step (form finite)": lambda run, check: with_failed_step(run),
    "survived 12 systems": lambda run, check: change_variant(run, convicted=False),
    "the ledger proves the false variant": lambda run, check: change_variant(
        run, ledger_fails=False
    ),
    "'truncation/gradient' never reported": lambda run, check: replace(
        run, missing_parts=("truncation/gradient",)
    ),
    "no claim was tested": lambda run, check: replace(run, claims=()),
}


@pytest.mark.parametrize("text", SPOILED)
def test_each_problem_fails_the_run(run, check, text):
    """Each single thing that speaks against a run fails it, and is named."""
    spoiled = SPOILED[text](run, check)
    assert not is_passed(spoiled)
    assert any(text in problem for problem in run_problems(spoiled))
