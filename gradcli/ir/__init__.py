"""The ops program: `program` has its records, `visit` goes through them, `text` prints them."""
