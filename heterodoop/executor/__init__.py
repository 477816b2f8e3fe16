"""Running one task, by filters or by kernels, between a split and a map output file."""
