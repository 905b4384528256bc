"""Users, their roles, credentials and sessions."""
