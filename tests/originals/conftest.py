"""Stand-ins and manifests have no examples; importing them takes seconds that the default run does
not have.
"""

collect_ignore_glob = ["stand_ins/*", "manifest/*"]
