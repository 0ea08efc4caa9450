"""Recurrent layers of ONNX graphs."""
