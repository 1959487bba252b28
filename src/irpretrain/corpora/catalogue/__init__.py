"""The catalogue of data sets: what each is, where it comes from, where its files belong, and whether they are there."""
