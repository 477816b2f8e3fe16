"""The GPU driver process of one node under Hadoop: what map attempts ask for, and who does it."""
