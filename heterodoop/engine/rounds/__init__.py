"""A job that runs again and again on this machine, and its rounds on disk."""
