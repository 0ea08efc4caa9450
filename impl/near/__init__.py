"""Near your data: every run within δ of a recorded one, in sets that are proved to hold them."""
