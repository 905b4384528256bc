"""Example programs for integrations of an ERP or a shop, to be copied."""
