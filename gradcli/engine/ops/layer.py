"""Layers and distances of neural networks."""
