"""The native runtime from Python: its C ABI, loading it, calling it, and what can be seen of a call while it runs."""
