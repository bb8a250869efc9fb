"""What several commands use: the files of a checkout, its corpus, and grammar files as texts with places."""
