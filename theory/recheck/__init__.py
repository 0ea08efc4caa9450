"""A second checker of proofs, which shares with the kernel the format of a document alone."""

from rnnbounds.theory.recheck.check import Verdict as Verdict
from rnnbounds.theory.recheck.check import check as check
from rnnbounds.theory.recheck.check import kept as kept
from rnnbounds.theory.recheck.check import stands as stands
