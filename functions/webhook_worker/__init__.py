"""Delivers events to subscribed addresses."""
