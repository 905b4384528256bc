"""What happened, told to whoever subscribed."""
