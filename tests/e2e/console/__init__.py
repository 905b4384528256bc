"""The web console in a browser, against the deployed stack."""
