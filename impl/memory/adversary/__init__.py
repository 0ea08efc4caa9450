"""The adversary: inputs that a model remembers for long, found in floats and proved in balls."""
