"""The league: every agent in every world, and the recommended one against the paper's LORIL."""
