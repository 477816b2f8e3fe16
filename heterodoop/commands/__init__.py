"""What commands do that is more than one call: between `cli` and the parts below it."""
