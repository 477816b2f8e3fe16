"""What a combiner's loop does to the values of one key, found by running it on symbols."""
