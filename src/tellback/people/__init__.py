"""The benchmark on recordings of people."""
