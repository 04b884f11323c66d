"""Side-by-side measurements of training speed: the package against its peers and against the machine's limit."""
