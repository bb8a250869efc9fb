"""What several tools use: snapshots, generated files, the browser, and running a command."""
