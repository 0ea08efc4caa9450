"""Claims on printed certificates: norm, windows, bounds, gradients and unitary networks."""
