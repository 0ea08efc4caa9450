"""Attacks on the claims about unitary equivalents, their counter-examples and what is dumped."""

from fractions import Fraction
from pathlib import Path

import numpy as np

from rnnbounds.properties.attacks.campaign import inapplicable_reason
from rnnbounds.properties.attacks.extremal import NAMED_SPECS
from rnnbounds.properties.attacks.shrink import shrink
from rnnbounds.properties.runs.replay import dump_system, replay
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import make_spec, parse_spec
from rnnbounds.theory import claim
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.proof.claim import Assumption

NETWORK = make_spec(
    kind="unitary", regime="pythagorean", inputs="gaussian", n=2, d=2, T=3, K=3,
    bias=0.5, start=2.0, batch=6, sequences=2,
)  # fmt: skip
CONTRACTIVE = Assumption("contractive", "λ < 1", parse_statement("lam < 1"))


def test_an_independent_program_agrees_with_the_dump(tmp_path: Path) -> None:
    """From the strings alone, in Python's rationals: both networks have the same outputs."""
    statement = parse_statement("unitary_gap <= 0")
    path = tmp_path / "pair.npz"
    dump_system(replay(NETWORK.select_pair(1, 1), statement, ()), path)
    arrays = np.load(path)
    exact = {
        name.removeprefix("exact_"): np.vectorize(Fraction, otypes=[object])(arrays[name])
        for name in arrays.files
        if name.startswith("exact_")
    }

    def outputs(suffix: str, bias: np.ndarray) -> list[np.ndarray]:
        W, U = exact[f"W{suffix}"], exact[f"U{suffix}"]
        n = len(exact["C"])
        h = np.array([*exact["h"][0], *[Fraction(0)] * (len(W) - n)], dtype=object)
        found = []
        for x in exact["x"][0]:
            h = np.maximum(W @ h + U @ x + bias, 0)
            found.append(exact["C"] @ h[:n])
        return found

    own = outputs("", exact["b"])
    assert all((a == b).all() for a, b in zip(own, outputs("2", exact["b2"]), strict=True))
    wrong = exact["b2"].copy()
    wrong[2:] = Fraction(0)
    assert any((a != b).any() for a, b in zip(own, outputs("2", wrong), strict=True))
    assert float(exact["W"][0, 0]) == arrays["W"][0, 0]
    assert arrays["W_other"].shape == (4, 4)


def rationals(path: Path, spec: SystemSpec, text: str) -> dict[str, np.ndarray]:
    """The dump of an exact system, its numbers as Python's rationals."""
    dump_system(replay(spec, parse_statement(text), ()), path)
    arrays = np.load(path)
    return {
        name.removeprefix("exact_"): np.vectorize(Fraction, otypes=[object])(arrays[name])
        for name in arrays.files
        if name.startswith("exact_") and name != "exact_activations"
    }


def test_the_dump_names_both_activations(tmp_path: Path) -> None:
    """Of a tanh network and its sigmoid candidate neither's weights tell which it is."""
    spec = NAMED_SPECS["quarter-weight-tanh"].select_pair(0, 0)
    dump_system(replay(spec, parse_statement("1/50 <= sigmoid_gap"), ()), tmp_path / "a.npz")
    assert np.load(tmp_path / "a.npz")["exact_activations"].tolist() == ["tanh", "sigmoid"]


def test_violations_shrink() -> None:
    """A scant bias falls to a scalar network, explained and replayable."""
    statement = parse_statement("unitary_gap_scant <= 0")
    found = shrink("typed", "typed", statement, (CONTRACTIVE,), NAMED_SPECS["slow-drive"])
    assert found is not None
    spec = parse_spec(found.replay.split("'")[1])
    assert spec.n == 1
    assert spec.batch == 1
    assert replay(spec, statement, (CONTRACTIVE,)).checks[0].verdict == "VIOLATED"
    assert "unitary_gap_scant" in found.explanation


def test_optimisation_has_nothing_to_do() -> None:
    """Exactly decided kinds have no gradient, and the run says so."""
    entry = claim("urnn-equivalence")
    assert "exact rationals" in inapplicable_reason(entry, "gradient")
    assert inapplicable_reason(entry, "random") == ""
