"""Running one task: the CPU filter (later a GPU kernel) between a split and a map output file."""
