"""What people who scan must know of the goods in their work."""
