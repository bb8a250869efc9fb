"""Runs the tests of the integrations, each group of frameworks in an environment of its own."""
