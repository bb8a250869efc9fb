"""What several tools use: the checkout, its corpus and snapshots, grammar files as text, and the browser."""
