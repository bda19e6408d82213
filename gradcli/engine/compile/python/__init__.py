"""Python code of typed programs."""
