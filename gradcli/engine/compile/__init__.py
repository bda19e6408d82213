"""Programs made into code: specialized, differentiated, generated."""
