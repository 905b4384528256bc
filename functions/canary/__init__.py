"""The canary: requests a token and a list, as an ERP does."""
