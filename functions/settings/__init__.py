"""Administration of a company: settings, API clients, users, roles and the audit log."""
