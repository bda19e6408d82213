"""The compiler: specialize programs, differentiate them, and generate code."""
