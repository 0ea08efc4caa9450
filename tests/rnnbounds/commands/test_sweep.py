"""``verify --seeds``: each seed's run is the run of that seed, and one red seed fails the call."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

from rnnbounds.commands import sweep as module
from rnnbounds.properties.attacks.sabotage import VariantGroup
from rnnbounds.properties.runs import run, seeds
from rnnbounds.properties.runs.seeds import parse_seeds
from rnnbounds.reports import load
from rnnbounds.reports.records.outcome import without_environment
from rnnbounds.reports.records.record import VariantRecord
from rnnbounds.shell.output import Format

CLAIM = ("contraction-linear", "--attacks", "random", "-n", 0)


@pytest.fixture(autouse=True)
def convicted(monkeypatch):
    """Every false variant falls at once: what a sweep does with seeds is in question here."""

    def falls(self, *, budget, seed, device):
        return tuple(
            VariantRecord(
                id=variant.id,
                text=variant.text,
                form=variant.form,
                statement=str(seed),
                mathml="",
                special=None,
                convicted=True,
                attack="random",
                systems=1,
                counterexample=None,
                ledger_fails=True,
            )
            for variant, _ in self.targets
        )

    monkeypatch.setattr(VariantGroup, "attack_remaining", falls)


def test_every_seed_has_the_record_of_its_own_run(call, tiny, tmp_path):
    """But for its surroundings, which say when it ran."""
    outcome = call("verify", *CLAIM, "--seeds", "3,1", "--out", tmp_path / "all")
    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        "seed 1: all bounds hold", "seed 3: all bounds hold", "2 of 2 seeds without a problem",
    ]  # fmt: skip
    for seed in (1, 3):
        call("verify", *CLAIM, "--seed", seed, "--out", tmp_path / "alone")
        alone = load(tmp_path / "alone" / "run.json")
        assert without_environment(
            load(tmp_path / "all" / str(seed) / "run.json")
        ) == without_environment(alone)


@pytest.mark.slow
def test_what_no_seed_moves_is_run_once(call, tiny, tmp_path, monkeypatch):
    """Proofs and extremal instances; the seeds after the first have them in their records too."""
    done, honest = [], run.run_part

    def counting(part, *, profile_name, seed, device):
        done.append((part.name, seed))
        return honest(part, profile_name=profile_name, seed=seed, device=device)

    monkeypatch.setattr(run, "run_part", counting)
    claim = ("contraction-linear", "--attacks", "random,extremal", "-n", 0)
    assert call("verify", *claim, "--seeds", "1-3", "--out", tmp_path / "all").code == 0
    names = [name.split("/")[1] for name, _ in done]
    # Two pools have false variants; one of them has forms too.
    assert sorted(names) == [
        "extremal", "proof+sabotage", *["random+sabotage"] * 3, *["sabotage"] * 3,
    ]  # fmt: skip
    call("verify", *claim, "--seed", 3, "--out", tmp_path / "alone")
    alone, swept = (tmp_path / name / "run.json" for name in ("alone", "all/3"))
    assert without_environment(load(swept)) == without_environment(load(alone))


@pytest.mark.slow
def test_parts_may_end_in_any_order(call, tiny, tmp_path, monkeypatch):
    """As those of several seeds do where processes go on from one to the next."""
    arguments = ("verify", *CLAIM, "--seeds", "1-2", "--out")
    assert call(*arguments, tmp_path / "plain").code == 0
    honest = seeds.run_calls
    monkeypatch.setattr(
        seeds, "run_calls", lambda calls, **options: (yield from honest(calls[::-1], **options))
    )
    outcome = call(*arguments, tmp_path / "mixed")
    assert [line.split(":")[0] for line in outcome.out.splitlines()[:2]] == ["seed 1", "seed 2"]
    for seed in (1, 2):
        one, other = (tmp_path / name / str(seed) / "run.json" for name in ("plain", "mixed"))
        assert without_environment(load(one)) == without_environment(load(other))


def test_one_red_seed_fails_the_call(call, tiny, monkeypatch):
    """It says which, why, and how to see it again; so does the document."""
    monkeypatch.setattr(module, "run_problems", lambda run: ["it broke"] if run.seed == 2 else [])
    monkeypatch.setattr(
        module, "replay_commands", lambda run: ["rnnbounds replay X"] * (run.seed == 2)
    )
    outcome = call("verify", *CLAIM, "--seeds", "1-2")
    assert outcome.code == 1
    assert outcome.out.splitlines() == [
        "seed 1: all bounds hold", "seed 2: 1 problem", "  FAILS: it broke",
        "  rnnbounds replay X", "1 of 2 seeds without a problem",
    ]  # fmt: skip
    outcome = call("verify", *CLAIM, "--seeds", "1-2", "--format", "json")
    assert (outcome.code, [document["problems"] for document in outcome.json]) == (
        1, [[], ["it broke"]],
    )  # fmt: skip


def test_lists_of_seeds() -> None:
    """Ranges and numbers, each once, in order."""
    assert parse_seeds("5,1-3, 2") == (1, 2, 3, 5)
    assert parse_seeds("0") == (0,)


def test_a_red_seed_is_told_in_lines(call, tiny, monkeypatch):
    """A line for the seed, for each problem and for each replay, whatever the problem says."""
    monkeypatch.setattr(module, "run_problems", lambda run: ["it broke\n\x1b[31m", "twice"])
    monkeypatch.setattr(module, "replay_commands", lambda run: ["rnnbounds replay X"])
    assert call("verify", *CLAIM, "--seeds", "2").out.splitlines() == [
        "seed 2: 2 problems", r"  FAILS: it broke\n\x1b[31m", "  FAILS: twice",
        "  rnnbounds replay X", "0 of 1 seed without a problem",
    ]  # fmt: skip


def test_every_folder_is_asked_for_before_the_work(refused, tiny, tmp_path):
    """Not after the seeds before it; what lies beside them hinders nobody."""
    (tmp_path / "run.json").mkdir()
    (tmp_path / "2").touch()
    line = refused("verify", *CLAIM, "--seeds", "1-3", "--out", tmp_path)
    assert line.startswith(f"rnnbounds: cannot write {tmp_path / '2'}")
    assert not (tmp_path / "1").exists()


def test_a_file_has_the_line_of_a_seed_before_the_next_one_runs(monkeypatch):
    """Hours may pass between two of them."""
    buffered = io.TextIOWrapper(io.BufferedWriter(raw := io.BytesIO()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", buffered)
    monkeypatch.setattr(module, "run_problems", lambda run: [])
    monkeypatch.setattr(module, "replay_commands", lambda run: [])
    seen = []

    def runs():
        for seed in (1, 2):
            seen.append(raw.getvalue().decode())
            yield SimpleNamespace(seed=seed)

    assert module.print_runs(runs(), None, Format.text) == 0
    assert seen == ["", "seed 1: all bounds hold\n"]
