"""Who is calling: the gateway asks once per token and address, and keeps the verdict."""
