"""The function of the tools of agents."""
