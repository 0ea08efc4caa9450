"""Foundations of proofs: what a form rests on, and how much is taken without proof."""
