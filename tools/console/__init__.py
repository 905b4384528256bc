"""The generated files of the console: libraries, types and descriptions of the interface."""
