"""What Emami and others say of unitary networks, tried: what they learn, and long memories."""
