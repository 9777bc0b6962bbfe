"""The paper's theorems, tested by runs."""
