"""One module per family of scenarios; the first that accepts a scenario runs it."""

from . import clip, derived, gate, ops, train

ADAPTERS = (clip, gate, train, ops, derived)
