"""One node's GPU side under Hadoop: a state machine, what it is told and says, and the parts that it is made of. Pure."""
