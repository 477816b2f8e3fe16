"""`heterodoop verify`: every task in each of its ways, and where their outputs differ."""
