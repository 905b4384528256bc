"""Settings: how a company has its instance work."""
