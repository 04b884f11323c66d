"""``python -m d2lrnn``: the command line, also for ``torchrun -m d2lrnn``."""

from d2lrnn.cli import main

if __name__ == "__main__":
    main()
