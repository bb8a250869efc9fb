"""A proxy in front of a server that writes raw text: `outspoken serve`. Needs the extra `serve`."""
