"""What several tools use: the browser, and running a command."""
