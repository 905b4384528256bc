"""What the interface says, sentence by sentence, of every operation and every list."""
