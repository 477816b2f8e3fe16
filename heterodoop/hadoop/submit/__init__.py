"""From what the user said to a job that Hadoop has."""
