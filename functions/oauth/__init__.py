"""OAuth 2.0 endpoints: tokens, revocation, metadata and public keys."""
