"""Order statistics and moments."""
