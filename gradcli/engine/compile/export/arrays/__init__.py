"""Write typed programs with arrays as loops over elements."""
