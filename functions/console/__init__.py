"""The files of the web console."""
