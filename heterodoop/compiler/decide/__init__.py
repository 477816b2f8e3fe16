"""What becomes of the region: what keeps it on the CPU, where its variables live, how its kernel is launched."""
