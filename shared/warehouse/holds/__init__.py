"""Holds: goods that nobody else can sell until a moment, such as those in a cart at checkout."""
