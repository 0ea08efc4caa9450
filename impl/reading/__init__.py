"""Reading a model: files, torch modules, and which cell its tensors are."""
