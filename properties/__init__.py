"""The attack: the only room where claims meet systems."""
