"""The frameworks of the integrations, the environments that have them, and their tests in these."""
