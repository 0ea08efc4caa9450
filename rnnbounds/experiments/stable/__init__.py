"""What Miller and Hardt say of stable models, tried: costs, truncation, gradients, weights."""
