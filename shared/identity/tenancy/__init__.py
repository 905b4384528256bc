"""Tenants: what they are, how requests find them, how operators manage them."""
