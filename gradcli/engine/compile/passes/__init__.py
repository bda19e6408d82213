"""What is found out about typed programs, and rewritings of them."""
