"""``python -m rnnbounds``: the command line."""

import sys

from rnnbounds.cli import main

if __name__ == "__main__":
    sys.exit(main())
