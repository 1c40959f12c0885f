"""``python -m fastevals.chapter``."""

import sys

from fastevals.chapter.command import main

sys.exit(main())
