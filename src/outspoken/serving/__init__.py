"""A proxy in front of a server that returns raw text: `outspoken serve`. Needs the extra `serve`.

Import `Proxy` and `ServeSettings`. It builds on `providers`; only the command line imports it.
"""
