"""The passes over the IR: each spelling of a thing becomes one form, and what nobody needs is dropped."""
