"""The IR of a region: its nodes, and how they are made, walked, printed, read back and verified."""
