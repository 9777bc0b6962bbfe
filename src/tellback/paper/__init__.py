"""The paper's experiments and claims, declared as data."""
