"""Jobs of a cluster once they are submitted: following, listing, counters, logs, ending one; Hadoop's own client."""
