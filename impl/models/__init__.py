"""Models to certify: the vanilla network, any cell as it was read, and torch's arithmetic."""
