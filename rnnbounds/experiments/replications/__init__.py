"""What the papers tried, tried again: one experiment a module, on the tasks and networks beside."""
