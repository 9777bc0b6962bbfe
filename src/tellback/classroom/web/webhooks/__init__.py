"""Webhooks: where they may point, and how events are delivered to them."""
