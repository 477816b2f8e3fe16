"""What was understood of a region, as the manifest has it."""
