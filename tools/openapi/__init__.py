"""The description of the interface, generated from the declarations of the routes."""
