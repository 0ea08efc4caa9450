"""The commands, a family a module; `rnnbounds.program` names them."""
