"""A job of a cluster that runs again and again, and its rounds in HDFS."""
