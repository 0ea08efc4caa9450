"""Whether a URNN learns a contractive network from twice the states."""
