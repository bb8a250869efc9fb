"""What holds of every reply and stream of events, for the tests of all rooms."""
