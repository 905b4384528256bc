"""Administration of a company: settings, API clients, users, roles, audit log and request log."""
