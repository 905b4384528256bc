"""People who use the service: users, their roles, how they log in."""
