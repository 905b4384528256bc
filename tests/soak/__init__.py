"""Random traffic over HTTP against the local stack, with kills and impatient clients (`make soak`)."""
