"""The worker process that holds a GPU: its two sides, what they say to each other, its faults."""
