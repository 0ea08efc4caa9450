"""Hypothesis strategies of system specs, a few small choices each."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from rnnbounds.properties.systems.kind import Wanted
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, kind_named


@st.composite
def specs(draw: st.DrawFn, /, kind: str, family: str | None = None, **wanted: Any) -> SystemSpec:
    """A spec of one kind, as `Wanted` asks; as one of a family, what is drawn of all its kinds."""
    return draw(_drawn(kind, family, Wanted(**wanted)))


@cache
def _drawn(kind: str, family: str | None, asked: Wanted) -> st.SearchStrategy[SystemSpec]:
    found = kind_named(kind)
    return found.draws(asked) if family is None else FAMILIES[family].draws(found.spec, asked)
