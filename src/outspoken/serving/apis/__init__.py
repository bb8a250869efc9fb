"""The APIs that the proxy speaks: their requests become chat completions, and its chunks become their events.

Both are done by the modules of each API in `providers.wire`; here is what only the proxy needs.
`base` says what an API has to do; `chat`, `responses` and `anthropic` do it. No module of it uses the network.
"""
