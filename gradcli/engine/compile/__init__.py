"""Programs of numbers made into code: specialized, differentiated, generated."""
