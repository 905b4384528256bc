"""What is generated from the code, and what building needs."""
