"""Recurrences inside sequence models (Mamba, RG-LRU, RWKV, xLSTM, S4D, S5), by their own names."""
