"""What no unitary network can do: candidates, exact, near and fitted."""
