"""The trade: catalog, warehouses, documents, stock, receiving, picking, transfers, waves."""
