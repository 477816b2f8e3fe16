"""C's types, of declarations and of expressions; layouts, constant values and literals."""
