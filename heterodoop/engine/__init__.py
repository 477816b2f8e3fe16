"""The embedded engine: a whole MapReduce job on this machine."""
