"""Writing elements at places."""
