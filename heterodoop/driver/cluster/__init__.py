"""What a node cannot see by itself: YARN over REST."""
