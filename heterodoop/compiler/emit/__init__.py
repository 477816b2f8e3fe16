"""Decisions and IR as text: the kernel in CUDA, the prologue and the epilogue in C."""
