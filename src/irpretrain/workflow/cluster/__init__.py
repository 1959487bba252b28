"""What a Slurm cluster needs besides a profile."""
