"""Claims on the memory of contractive models: forgetting and safe truncation."""
