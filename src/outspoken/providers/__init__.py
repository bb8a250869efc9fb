"""What providers send, read: chunks in, one stream of events out."""
