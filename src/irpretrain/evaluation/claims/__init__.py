"""What the papers claim, as data (`resources/claims`), and what a run says of it."""
