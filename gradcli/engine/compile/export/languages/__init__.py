"""Print functions of the written form as C, Python and LaTeX."""
