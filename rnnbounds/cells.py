"""Cells of your own: what a cell is written with, and the table that it is added to.

>>> class Decay(cells.ProgramCell):  # h⁺ = h/2 + W x
...     reads = "W"
...     def program(self, m, s, x):
...         return 0.5 * s + m.affine("W", None, x)
>>> kind = cells.program_kind("decay", Decay, cells.fixed({"W": "n d"}))
>>> cells.register(kind)
"""

from rnnbounds.impl.arithmetic.base import Arithmetic
from rnnbounds.impl.cells.kind import Kind, fixed
from rnnbounds.impl.cells.program import ProgramCell, program_kind
from rnnbounds.impl.cells.table import register

__all__ = ["Arithmetic", "Kind", "ProgramCell", "fixed", "program_kind", "register"]
