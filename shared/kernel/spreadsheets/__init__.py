"""Spreadsheets that strangers upload, .xlsx and .csv, read safely and in bounded memory."""
