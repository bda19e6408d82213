"""Write typed programs as source code for people: C and Python."""
