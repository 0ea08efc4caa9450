"""Judgements that stay on a device say what those of the host say."""

import numpy as np
import pytest
import torch
from elsewhere import elsewhere

from rnnbounds.properties.judging import judge as judging
from rnnbounds.properties.judging.device_judgement import DeviceJudgement, first_place
from rnnbounds.properties.judging.evidence import Evidence
from rnnbounds.properties.judging.exact_decision import Outcome
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.sides import broadcast_side
from rnnbounds.properties.judging.verdict import Judgement, Verdict, compare_sides
from rnnbounds.properties.read.numbers.device_interval import DeviceInterval, around_on_device
from rnnbounds.properties.read.numbers.enclosures import around
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.vanilla.specs import Rnn
from rnnbounds.reports.records.checks.curve import merge_sides
from rnnbounds.theory import claim
from rnnbounds.theory.numbers.interval import Interval

B, S, W = 6, 5, 4
ODD = (np.nan, np.inf, -np.inf, 0.0, 1.0, 2.0**-1074, 1e308)


def sides(seed: int) -> tuple[DeviceInterval, Interval, np.ndarray, np.ndarray]:
    """A measured side, a bound that some of it passes, unmet assumptions, finite pairs; with
    numbers of any size, ties and none at all."""
    rng = np.random.default_rng(seed)
    values = rng.choice([0.5, 1.0, 1.5, 2.0], (B, S, W)) + rng.choice([0.0, 1e-9], (B, S, W))
    errors = rng.choice([0.0, 1e-12, 0.5], (B, S, W))
    bounds = rng.choice([0.0, 1.0, 1.5, 2.5], (B, 1, W))
    for array in (values, errors, bounds):
        odd = rng.random(array.shape) < 0.1
        array[odd] = rng.choice(ODD, odd.sum())
    with np.errstate(all="ignore"):
        bound = Interval(bounds, np.nextafter(bounds, np.inf))
        measured = around_on_device(torch.from_numpy(values), torch.from_numpy(np.abs(errors)))
    mask, finite = rng.random((B, 1, W)) < 0.2, rng.random((B, S, 1)) > 0.1
    return measured, bound, mask, finite


def on_host(relation: str, measured: DeviceInterval, bound: Interval, mask, finite) -> Judgement:
    """As `judge` makes one of arrays."""
    lhs = Interval(*(end.numpy().copy() for end in measured.tensors))
    verdicts = np.array(np.broadcast_to(compare_sides(relation, lhs, bound), (B, S, W)))
    found = Judgement(verdicts, broadcast_side(lhs, (B, S, W)), broadcast_side(bound, (B, S, W)))
    verdicts[np.broadcast_to(mask, verdicts.shape)] = Verdict.VACUOUS
    np.copyto(verdicts, Verdict.UNDECIDED, where=~finite & ~mask)
    return found


def same_summaries(one: Judgement, other: Judgement) -> None:
    """Counts, histograms and places."""
    first, second = one.summary(3), other.summary(3)
    for name in ("tally", "systems", "pairs", "ratios", "failing"):
        assert getattr(first, name) == getattr(second, name), name
    assert np.array_equal(first.per_system, second.per_system)
    for i in np.flatnonzero(np.isfinite(first.per_system)):
        assert first.place(i) == second.place(i)
        at = (int(i), *first.place(i))
        assert one.entry(at) == other.entry(at)
    (lhs, rhs), (other_lhs, other_rhs) = one.largest_sides(), other.largest_sides()
    assert np.array_equal(lhs, other_lhs)
    assert np.array_equal(rhs[lhs > -np.inf], other_rhs[lhs > -np.inf])
    assert np.array_equal(one.violated_pairs(), other.violated_pairs())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("relation", ["<=", "<"])
@pytest.mark.parametrize("seed", range(12))
def test_against_arrays(seed: int, relation: str) -> None:
    """All that is read of a judgement, before and after exact decisions."""
    measured, bound, mask, finite = sides(seed)
    host = on_host(relation, measured, bound, mask, finite)
    device = DeviceJudgement(relation, measured, bound, (B, S, W), {"lam<1": mask}, finite)
    assert np.array_equal(host.verdicts, device.codes.numpy())
    assert device.vacuous == {"lam<1": int(mask.sum()) * S}
    same_summaries(host, device)
    open_checks, others = host.open_checks(finite), device.open_checks(finite)
    assert open_checks.count == others.count
    assert np.array_equal(open_checks.pairs, others.pairs)
    before = [end.clone() for end in measured.tensors]
    for i, s in np.argwhere(open_checks.pairs).tolist():
        assert open_checks.windows(i, s) == others.windows(i, s)
        for k in open_checks.windows(i, s):
            word = ("HOLDS", "VIOLATED", "UNDECIDED")[(i + k) % 3]
            outcome = Outcome(word, (0.5, 0.75), (1.0, 1.25 * (k != 1)))
            host.write_outcome((i, s, k), outcome)
            device.write_outcome((i, s, k), outcome)
    same_summaries(host, device)
    assert np.array_equal(host.ratio, device.ratio, equal_nan=True)
    assert (
        all(map(torch.equal, before, map(torch.clone, measured.tensors)))
        or np.isnan([float(end.sum()) for end in before]).any()
    )


def test_costs() -> None:
    """The bound over another's, where both hold."""
    ones = torch.ones(2, 3, 1, dtype=torch.float64)
    none, every = np.zeros((2, 1, 1), dtype=bool), np.ones((2, 3, 1), dtype=bool)
    found = []
    for low in ([4.0, 8.0], [2.0, 0.5]):
        bound = Interval(*2 * [np.array(low).reshape(2, 1, 1)])
        measured = DeviceInterval(ones, ones)
        found.append(DeviceJudgement("<=", measured, bound, (2, 3, 1), {"a": none}, every))
    assert found[0].cost_beside(found[1]) == (2.0, 2.0)
    host = Judgement(found[1].verdicts, found[1].lhs, found[1].rhs)
    assert found[0].cost_beside(host) == (2.0, 2.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_enclosures() -> None:
    """Ends are those of `around`, bit for bit, NaN where one is."""
    draws = np.random.default_rng(0)
    value, error = draws.random((50, 20)), draws.choice([0.0, 1e-16, 1.0, np.nan], (50, 20))
    value[0, :7] = ODD
    expected = around(*map(torch.from_numpy, (value, error)))
    found = around_on_device(*map(torch.from_numpy, (value, error)))
    for name in ("lo", "hi"):
        assert np.array_equal(getattr(expected, name), getattr(found, name), equal_nan=True)
    assert first_place(torch.tensor([1.0, 3.0, 3.0])) == 1


@pytest.mark.parametrize("spec", [
    Rnn(activation="tanh", regime="orthogonal", n=4, d=2, T=9, K=6, lam=0.75, batch=5, sequences=3),
    Rnn(activation="relu", regime="gaussian", n=3, d=1, T=5, K=5, lam=1.25, batch=4, sequences=2),
    Rnn(activation="identity", regime="orthogonal", n=1, T=6, K=6, lam=0.5, batch=2, sequences=2),
    Rnn(activation="tanh", inputs="resonant", n=2, T=4, K=4, lam=0.9, scale=2.0**400, batch=3),
], ids=["tanh", "vacuous", "tight", "huge"])  # fmt: skip
@pytest.mark.parametrize("id", ["truncation", "prediction"])
def test_evidence(id: str, spec: Rnn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all forms about networks, from a batch that a device draws, measures and judges: that of
    the CPU, where last digits of products may differ."""
    entry = claim(id)
    stayed = []
    judged = judging.DeviceJudgement
    monkeypatch.setattr(
        judging, "DeviceJudgement", lambda *args: stayed.append(args) or judged(*args)
    )
    for form in (form for form in entry.forms if form.about == "rnn"):
        found = []
        with elsewhere() as device:
            for place in ("cpu", device):
                batch = build_batch(spec, place)
                evidence = Evidence.empty(entry, form)
                evidence.add_batch(batch, judge(form.statement, form.assumptions, batch))
                found.append(evidence)
        here, there = found
        for name in ("tally", "systems", "pairs", "vacuous", "escalated"):
            assert getattr(here, name) == getattr(there, name), (form.name, name)
        assert [c.replay for c in here.tightest] == [c.replay for c in there.tightest]
        assert here.curve.keys() == there.curve.keys()
        merged = merge_sides(here.curve, there.curve)
        for k, (lhs, rhs) in here.curve.items():
            assert merged[k] == pytest.approx((lhs, rhs), rel=1e-9)
    assert stayed or spec.lam > 1
