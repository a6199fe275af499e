"""Record what the gradients of a training run looked like, and ask what a clip would have done to them."""

from .recorder import Recorder as Recorder
