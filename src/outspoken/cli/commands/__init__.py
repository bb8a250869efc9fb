"""The commands of `outspoken`, each in a module of its name with an attribute `run`.

A module is imported when its command is run. What takes long to import is imported inside its functions.
"""
