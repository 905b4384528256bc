"""Contract tests of every operation and every list of the API."""
