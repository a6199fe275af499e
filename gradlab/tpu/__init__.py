"""TPU embedding tables: what happens to ids, rows and gradients, without a TPU."""

from typing import TYPE_CHECKING

from .._base.extras import need as _need
from .._base.jax_or_numpy import HAS_JAX as _HAS_JAX
from .._base.suggest import only_public as _only_public

_need("google.protobuf", "gl.tpu", "tpu", library="protobuf")

# Where things are, in the order of a step. Pure functions of arrays, with what they work on:
#   plan          tables, features, policy: all that is fixed before the first batch
#   ids, batch    the host's part: ids of any form become one batch; make_batch chooses the engine
#   state         tables and slots; row_owners and stacks say which device has which rows
#   lookup        rows into activations
#   update        gradients into rows, and train_step; table_update has the arithmetic of one table
#   dedup         deduplication data, storage: quantized and packed rows, lookup_sparse: TensorFlow's lookups off a TPU
# The gradients of a row that was looked up more than once are summed in two places: `sum_rows` of
# lookup adds those of one core, `_base/arrays.py sum_duplicates` those of several cores.
# Around them:
#   sharding      tables on several devices: placed, laid out, saved; and the choice of layouts
#   sparsecore    the batches of TPU v5p and later
#   training      tables with a dense tower, checkpoints
#   experimental  TensorFlow's classes, on top of engine: its messages, and a system with operations in order
#   explanations  why a row moved in a step (step_record), and what is easily missed
from . import experimental, sparsecore
from .batch import Batch, CooRows, Lookups, PlacedBatch, combiner_gains, coo_rows
from .dedup import (
    dedup_mask,
    dedup_size,
    merge_dedup,
    parse_tuple_mask,
    split_dedup,
    write_tuple_mask,
)
from .engine import proto
from .engine.describe import describe
from .engine.messages import descriptor_of, parameters_of, rule_of, table_of
from .engine.parse import config_of, example_config, parse, plan_of
from .engine.proto import OptimizationParameters, TPUEmbeddingConfiguration
from .engine.replicas import replica
from .engine.shapes import activation_shapes, all_parameter_shapes, shard_rows
from .engine.system import System, current_system, initialize_system, shutdown_system
from .explanations.explain import explain
from .explanations.explanation import Contribution, Explanation
from .explanations.traps import Trap, Traps, explain_missing
from .ids import Ids, ids_of
from .lookup import lookup
from .lookup_sparse import embedding_lookup_sparse, safe_embedding_lookup_sparse
from .make_batch import make_batch
from .plan import Feature, Levels, Plan, Policy, Table, Tag
from .row_owners import OneDevice, OnMesh, Shards
from .sharding import (
    cores_here,
    create_placed,
    gather,
    lay_out,
    place,
    place_batch,
    restore,
    save,
    sizes_of,
    traffic,
)
from .sharding.plan_placement import Placed, PlacementPlan, plan_placement
from .sparsecore import partition_statistics
from .state import State, create
from .step_record import Sent, StepRecord
from .storage import pack_rows, quantize, unpack_rows
from .table_update import update_table
from .update import flush_pending, train_step, update

__all__ = [
    "Batch",
    "Checkpoints",
    "Contribution",
    "CooRows",
    "Explanation",
    "Feature",
    "Ids",
    "Levels",
    "Lookups",
    "OnMesh",
    "OneDevice",
    "OptimizationParameters",
    "Placed",
    "PlacedBatch",
    "PlacementPlan",
    "Plan",
    "Policy",
    "Sent",
    "Shards",
    "State",
    "StepRecord",
    "System",
    "TPUEmbeddingConfiguration",
    "Table",
    "Tag",
    "TrainState",
    "Training",
    "Trap",
    "Traps",
    "activation_shapes",
    "all_parameter_shapes",
    "combiner_gains",
    "config_of",
    "coo_rows",
    "cores_here",
    "create",
    "create_placed",
    "current_system",
    "dedup_mask",
    "dedup_size",
    "describe",
    "descriptor_of",
    "embedding_lookup_sparse",
    "example_config",
    "experimental",
    "explain",
    "explain_missing",
    "flush_pending",
    "gather",
    "ids_of",
    "initialize_system",
    "lay_out",
    "lookup",
    "make_batch",
    "merge_dedup",
    "pack_rows",
    "parameters_of",
    "parse",
    "parse_tuple_mask",
    "partition_statistics",
    "place",
    "place_batch",
    "plan_of",
    "plan_placement",
    "prefetch",
    "proto",
    "quantize",
    "replica",
    "restore",
    "rule_of",
    "safe_embedding_lookup_sparse",
    "save",
    "shard_rows",
    "shutdown_system",
    "sizes_of",
    "sparsecore",
    "split_dedup",
    "table_of",
    "traffic",
    "train_step",
    "unpack_rows",
    "update",
    "update_table",
    "write_tuple_mask",
]

if TYPE_CHECKING or _HAS_JAX:
    from .training import Checkpoints, Training, TrainState, prefetch

if not TYPE_CHECKING:
    _unknown, __dir__ = _only_public(__name__)

    def __getattr__(name):
        if name in ("Checkpoints", "TrainState", "Training", "prefetch"):
            _need("jax", f"gl.tpu.{name}")
        return _unknown(name)
