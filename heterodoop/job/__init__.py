"""A job as every place that runs it understands it: its settings, and what these ask of filters and devices."""
