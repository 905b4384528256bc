"""The warehouse domain: catalog, documents, stock, work and waves."""
