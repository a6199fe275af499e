"""One module per family of scenarios; the first that accepts a scenario runs it."""

from . import clip, gate, train

ADAPTERS = (clip, gate, train)
