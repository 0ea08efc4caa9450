"""The commands, a family a module; `rnnbounds.shell.program` names them."""
