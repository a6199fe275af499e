"""Stale gradients: the optimizer that drops them, and the verdict it gives on each."""

from .optimizer import DropStaleGradientOptimizer as DropStaleGradientOptimizer
from .verdict import Verdict as Verdict
