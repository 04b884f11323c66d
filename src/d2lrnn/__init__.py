"""d2lrnn."""
