"""Cells with gates that see the state: LSTM and GRU."""
