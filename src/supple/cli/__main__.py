"""``python -m supple.cli`` is the command line."""

import sys

from supple.cli import main

sys.exit(main())
