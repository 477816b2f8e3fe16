"""`python -m heterodoop`: the same as the `heterodoop` command."""

from .cli import main

main()
