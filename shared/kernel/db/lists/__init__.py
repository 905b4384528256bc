"""Lists with page numbers, exact totals, sorts and filters on DynamoDB, at a known cost.

There are two kinds. An *ordered* list has one of the collection's own sorts, of all entities or of
one partition: it is read directly from its index, and its total is a counter. A *gathered* list has
any other filter: it reads the index entries of the smallest partition or range that covers the
filter, once for all its pages. In both kinds, the first page and every page of `links.next` need
two sequential round trips: entries and totals concurrently, then the items. A partition in an order
of which only the whole collection has an index needs a third one.

The mark in a cursor, which `links.next` contains, continues exactly where the previous page ended,
whatever has changed since. A page number without a mark always counts on the current list.
"""
