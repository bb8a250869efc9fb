"""The command `outspoken`. Nothing imports it. May import every room."""
