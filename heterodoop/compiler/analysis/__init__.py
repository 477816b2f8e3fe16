"""What the program surely does: where pointers lead, what is written before it is read, who changes what."""
