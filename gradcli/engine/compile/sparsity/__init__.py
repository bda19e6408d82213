"""The inputs that each result of a typed program depends on, and directions that show several."""
