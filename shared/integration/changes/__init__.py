"""The changes of a company's data, as followers of its lists read them."""
