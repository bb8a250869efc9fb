"""A response is read, evaluated, retried, cached and counted: `ResponseProcessor`; and actions checked on a page.

Knows no application: what belongs to one is in `contrib`. May import the rooms from `results` to `providers`.
"""
