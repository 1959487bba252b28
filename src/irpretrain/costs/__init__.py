"""What a plan would cost: the work of its jobs, at the rates that were measured."""
