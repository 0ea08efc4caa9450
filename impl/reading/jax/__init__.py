"""Recurrent cells of JAX libraries: flax (linen and nnx) and equinox."""
