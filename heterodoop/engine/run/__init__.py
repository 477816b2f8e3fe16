"""One job from its plan to its output: attempts, shuffle, commit, report."""
