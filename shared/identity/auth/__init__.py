"""OAuth clients, access tokens, signing keys and the authorization of callers."""
