"""What a job is before anything runs: its settings, the names of devices, where its files lie."""
