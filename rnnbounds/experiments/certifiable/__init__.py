"""Networks that are trained freely, with a penalty and with a projection, and what is certified."""
