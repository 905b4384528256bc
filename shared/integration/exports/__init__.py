"""Exports: snapshots of whole lists as files, from which a copy follows the feed of changes."""
