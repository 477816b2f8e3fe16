"""Decisions and IR as text: the kernel in CUDA, the prologue in C."""
