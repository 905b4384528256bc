"""RFID: comparing the tags that a reader has read with the goods of a piece of work."""
