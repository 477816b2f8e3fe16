"""GPUs through their driver: which there are, which a job uses, holding and waking one."""
