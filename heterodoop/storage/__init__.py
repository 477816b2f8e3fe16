"""Where input splits come from."""
