"""The kinds of import: one module per kind with its columns and its importer."""
