"""Which devices and slots a job has, and whether a device's results are the CPU's."""
