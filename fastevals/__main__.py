"""Run the command line: ``python -m fastevals``."""

import sys

from fastevals.show.cli import main

if __name__ == "__main__":
    sys.exit(main())
