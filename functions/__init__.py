"""The doors: one package per group of routes, with its Lambda handler in `app.py`."""
