"""The requests of the last days, for those who develop and watch clients of the interface."""
