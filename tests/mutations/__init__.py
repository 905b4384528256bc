"""What happens when a condition or a movement is taken out of the stock engine: a test fails."""
