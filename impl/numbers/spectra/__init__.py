"""Numbers of matrices: norms, inverses, spectral radii and eigenvalues, with certain bounds."""
