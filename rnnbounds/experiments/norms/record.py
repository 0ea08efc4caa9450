"""The record of the experiment on norms, what it says of each, and what is wrong with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median

from reports.records.record import Environment

SCHEMA = "rnnbounds/norms/1"


@dataclass(frozen=True)
class Setting:
    """How many systems, of which sizes; see `rnnbounds.experiments.norms.run.draw`.

    n from `least` to `most` states, d `inputs`; ‖W‖₂ uniform in `norms`, the planted factor μ in
    `rates`; `epsilon` is the ε of all windows, for inputs with ‖x_t‖₂ ≤ `input_bound`.
    """

    systems: int = 200
    least: int = 2
    most: int = 12
    inputs: int = 2
    norms: tuple[float, float] = (1.0, 1.3)
    rates: tuple[float, float] = (0.8, 0.99)
    epsilon: float = 1e-3
    input_bound: float = 1.0


@dataclass(frozen=True)
class Method:
    """What one norm says of one system: its factor, null where infinite, and its k where known."""

    factor: float | None
    k: int | None

    @property
    def certifies(self) -> bool:
        """Whether the factor is below 1."""
        return self.factor is not None and self.factor < 1


@dataclass(frozen=True)
class System:
    """One RNN: ‖W‖₂ (rounded up), its factor in the planted norm, each method and the choice.

    `norm_name` is the norm that `--norm auto` chose, `verdict` and `k` are those of its
    certificate.
    """

    n: int
    norm: float
    planted: float
    methods: dict[str, Method]
    verdict: str
    norm_name: str
    k: int | None


@dataclass(frozen=True)
class Norms:
    """One run; everything but `environment` is a function of the seed and the setting.

    `skipped`: norms that were not tried, and why.
    """

    seed: int
    setting: Setting
    systems: tuple[System, ...]
    skipped: dict[str, str]
    environment: Environment
    problems: tuple[str, ...] = ()
    schema: str = field(default=SCHEMA)

    @property
    def names(self) -> tuple[str, ...]:
        """The methods, in the order in which they are tried."""
        return tuple(self.systems[0].methods)

    def certified(self, name: str) -> list[int]:
        """The k of the systems that a method certifies, in increasing order."""
        told = (system.methods[name] for system in self.systems)
        return sorted(method.k for method in told if method.certifies and method.k is not None)

    @property
    def chosen(self) -> list[int]:
        """The k of the systems that `--norm auto` certifies, in increasing order."""
        return sorted(s.k for s in self.systems if s.verdict == "certified" and s.k is not None)

    def best(self, name: str) -> int:
        """On how many systems no method has a shorter k."""
        return self._count(name, lambda k, others: k <= min(others, default=k))

    def alone(self, name: str) -> int:
        """How many systems no other method certifies."""
        return self._count(name, lambda k, others: not others)

    def _count(self, name: str, wins: Callable[[int, list[int]], bool]) -> int:
        count = 0
        for system in self.systems:
            known = windows(system.methods)
            k = known.pop(name, None)
            count += k is not None and wins(k, list(known.values()))
        return count


def windows(methods: Mapping[str, Method]) -> dict[str, int]:
    """The k of the methods that certify."""
    known = {name: told.k for name, told in methods.items() if told.certifies}
    return {name: k for name, k in known.items() if k is not None}


def middle(ks: list[int]) -> float | None:
    """The median, None of nothing."""
    return median(ks) if ks else None


def problems(run: Norms) -> tuple[str, ...]:
    """What fails, in words: a system that is not what it should be, a choice that is not best."""
    found = []
    low, high = run.setting.norms
    for i, system in enumerate(run.systems):
        known = windows(system.methods)
        if not low <= system.norm <= high * (1 + 1e-9):
            found.append(f"system {i}: ‖W‖₂ = {system.norm:.6g} is not in [{low:g}, {high:g}]")
        if not system.planted < 1:
            found.append(f"system {i}: its planted factor {system.planted:.6g} is not below 1")
        if known and system.verdict != "certified":
            found.append(f"system {i} is {system.verdict}, but {min(known)} certifies it")
        elif known and (system.k is None or system.k > min(known.values())):
            name = min(known, key=lambda norm: known[norm])
            found.append(f"system {i}: k = {system.k}, but {known[name]} by the {name} norm")
    most = max((len(run.certified(name)) for name in run.names), default=0)
    if len(run.chosen) < most:
        found.append(f"auto certifies {len(run.chosen)} systems, a single norm {most}")
    return tuple(found)
