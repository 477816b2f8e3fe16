"""The user at the terminal: what is shown while a job runs, and the signals that end one."""
