"""Sparse matrices of derivatives: where their entries are, and the products that show them."""
