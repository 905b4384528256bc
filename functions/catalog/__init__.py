"""The routes of products and product categories."""
