"""A map attempt and its job at the driver: what is asked for, the job's files and kernels, the task on a device."""
