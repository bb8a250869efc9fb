"""Loads a real `outspoken serve` process: hundreds of streams at once, failing upstreams, clients that leave or dawdle.

Each stream has an identity, which is in every word of its text and in its calls. So every response is compared with
exactly what it should be: nothing may be lost, changed, or come from another stream. Afterwards no response,
connection, task or file descriptor may be left.
"""
