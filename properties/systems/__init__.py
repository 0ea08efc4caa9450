"""The systems under attack: their specs, how they are drawn and built."""
