"""The paper's theorems held against runs, and what they promise shown."""
