"""What a certificate prints: its norm, windows and bounds, gradients, unitary networks."""
