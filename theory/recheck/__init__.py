"""A second checker of proofs, which shares with the kernel the format of a document alone."""

from rnnbounds.theory.recheck.check import Verdict as Verdict
from rnnbounds.theory.recheck.check import check_document as check_document
from rnnbounds.theory.recheck.check import is_accepted as is_accepted
from rnnbounds.theory.recheck.check import unsettled as unsettled
