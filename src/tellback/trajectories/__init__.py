"""The benchmarks on trajectories: agents that draw paths, examined on tasks held out."""
