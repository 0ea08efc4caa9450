"""Proof kernel: terms, compared by structure, and the inference rules on them.

`terms` and `algebra` are the language, `statements` the laws, `door` the one translator from the
SymPy form of claims; `rewriting`, `smt` (over `translate`) and `functions`
decide. Methods of proof (`theory.proof.methods`) put these together.
"""
