"""What is read member by member, exactly: of unitary networks, their limits, layers and memory."""
