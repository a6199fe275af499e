"""The ways to run a rule on buffers that are already there: `gradlab.in_place`."""
