"""Which tensors of a source are the weights of a recurrent cell, and of which kind."""
