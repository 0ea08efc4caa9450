"""How close training the truncated model comes to training the full one."""
