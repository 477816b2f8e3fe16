"""The compiler: annotated C in, a bundle out. Reads as the data flow in `compile.py`."""
