"""ApiHandler of everything else."""
