"""What every task has, whatever runs it: its split, environment, output and report. And how filters do it."""
