"""A job that runs again and again: its rounds on disk, and when it is done."""
