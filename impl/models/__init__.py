"""What is certified: the vanilla network, any cell as it was read, and torch on this machine."""
