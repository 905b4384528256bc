"""The sample import files of `sample/imports`: a catalogue, orders, a file full of errors."""
