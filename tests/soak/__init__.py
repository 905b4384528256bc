"""Random traffic over HTTP against the local stack, with kills (`make soak`)."""
