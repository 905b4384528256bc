"""The audit log: who did what to credentials, settings and stock."""
