"""The audit log of changes to credentials, users, settings and stock."""
