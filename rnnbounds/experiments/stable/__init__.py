"""Experiments on Miller and Hardt's stable models: costs, truncation, gradients, weights."""
