"""Who calls, what they may do, and how much: everything that refuses a request."""
