"""The audit log of changes to credentials, users, settings, stock and webhooks."""
