"""Reads workbooks and .csv files from untrusted sources with bounded memory."""
