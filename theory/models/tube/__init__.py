"""The reachtube around a recorded run: sets of states, stepped by affine arithmetic."""
