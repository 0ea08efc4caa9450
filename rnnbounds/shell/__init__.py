"""What the command line owes the shell: signals, a terminal, output."""
