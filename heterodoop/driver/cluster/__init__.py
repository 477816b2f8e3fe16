"""What a node cannot see by itself: YARN over REST, and the coordinator, from both sides."""
