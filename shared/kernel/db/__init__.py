"""One tenant's table: items, transactions, totals, lists."""
