"""The routes of clients and providers."""
