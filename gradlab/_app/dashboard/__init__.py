"""Every lab as a page of its own, served by Voila."""
