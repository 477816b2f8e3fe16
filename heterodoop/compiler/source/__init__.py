"""C text as the user wrote it: preprocessed, cleaned and parsed, and its directives read, each with its place."""
