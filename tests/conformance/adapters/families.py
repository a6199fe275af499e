"""One module per family of scenarios; the first that accepts a scenario runs it."""

from . import clip, derived, gate, keras, ops, peers, schedule, train

ADAPTERS = (clip, gate, keras, train, schedule, ops, derived, peers)
