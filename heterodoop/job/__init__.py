"""A job as every place that runs it understands it: its settings, what these ask of filters and devices, its rounds."""
