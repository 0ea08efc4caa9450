"""The commands, a family a module; each module registers its own."""
