"""JSON schemas and types: what a schema says of a value (`schema`), what is converted to it (`convert`), and whether a
value fits a type (`fitting`).
"""
