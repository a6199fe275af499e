"""Tables larger than a device: rows dealt out over a mesh of devices, in one process or in many."""

from .batch import PlacedBatch as PlacedBatch
from .batch import cores_here as cores_here
from .batch import place_batch as place_batch
from .batch import sizes_of as sizes_of
from .batch import traffic as traffic
from .checkpoint import restore as restore
from .checkpoint import save as save
from .place import create_placed as create_placed
from .place import gather as gather
from .place import place as place
