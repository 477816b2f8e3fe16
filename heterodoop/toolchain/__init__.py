"""Other programs that make programs: the C compiler, nvcc, Maven; and what they made, kept under a hash."""
