"""What only an operator runs, through the command line; no function's layer holds it."""
