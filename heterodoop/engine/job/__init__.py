"""What a job is before anything runs: the names of devices, where its files lie."""
