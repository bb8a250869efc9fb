"""Random walks under constraints: whatever a random model is let to write has to be read as `ok`."""
