"""Door of everything else."""
