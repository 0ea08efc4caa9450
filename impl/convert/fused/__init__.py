"""Inference of truncated models on a GPU, in few kernels and a CUDA graph."""
