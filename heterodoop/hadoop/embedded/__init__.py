"""The parts of an embedded cluster: Java, jars, folder, settings, servers, processes. `cluster.py` puts them together."""
