"""Reading an uploaded file: its header, its rows, its cells, and its groups of rows."""
