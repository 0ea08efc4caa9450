"""What proofs are checked over: terms of our own, compared by structure, and the rules on them.

`terms` and `algebra` are the language, `statements` the laws, `door` the one translator from what
claims are written in; `normal`, `rewriting`, `smt` (over `translate`, `powers`, `naturals`) and
`functions` decide. Methods of proof (`theory.proof.methods`) put these together.
"""

from rnnbounds.theory.kernel.shown import shown as shown
