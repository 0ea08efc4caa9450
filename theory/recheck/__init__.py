"""A second checker of proofs, which shares with the kernel the format of a document alone."""

from theory.recheck.check import Verdict as Verdict
from theory.recheck.check import check as check
from theory.recheck.check import kept as kept
from theory.recheck.check import stands as stands
