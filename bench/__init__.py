"""What is measured, and against what. Each script is run from the checkout: `python -m bench.NAME`."""

import os

# Commands that are timed would compile Python's modules each time: a tenth of a second that nobody has after an install.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
