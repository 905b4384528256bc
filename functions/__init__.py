"""The Lambda functions: one package per route group or queue, with its handler in `app.py`."""
