"""What is measured, and against what. Each script is run from the checkout: `python -m bench.NAME`."""
