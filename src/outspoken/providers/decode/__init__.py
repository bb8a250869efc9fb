"""Bytes, text and SDK objects to JSON objects. Import `Framer`, `to_json_data` and `JsonObject`.

It knows no provider's fields, and imports only `providers.errors`.
"""
