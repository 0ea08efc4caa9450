"""Inference of truncated models on a GPU: recurrent steps fused into few kernels, in a CUDA graph."""
