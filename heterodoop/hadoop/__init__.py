"""Unmodified Hadoop: submitting jobs, following them, and an embedded cluster."""
