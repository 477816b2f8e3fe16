"""A task by a kernel, on a device or as a host kernel, and the user's code before and behind the record loop."""
