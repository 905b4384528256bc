"""Who is asking and for which company: tenants, audit log, tokens, users."""
