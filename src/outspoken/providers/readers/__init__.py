"""The wire formats: one reader for each API, which feeds an `Assembler`.

Import the readers, `Reader` and `find_error`. It imports from `decode` and `assembly`.
"""
