"""Interface of the command line to the shell: signals, a terminal, output."""
