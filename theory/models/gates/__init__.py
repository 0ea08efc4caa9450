"""LSTM and GRU: their gates, their boxes, and what one step makes of two states."""
