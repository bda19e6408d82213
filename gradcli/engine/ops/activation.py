"""Activations of neural networks."""
