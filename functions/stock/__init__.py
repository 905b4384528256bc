"""The door of stock."""
