"""The numbers and codes of GS1: GTIN, SSCC, EPC."""
