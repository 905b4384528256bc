"""The warehouse domain: catalog, documents, stock, receiving, picking, transfers, waves …"""
