"""Observations of accumulators as code: which objects are one, what constructors and gradients may be.

Abbreviations: CA and SCA are the two classes, f16 to f64 dtypes, slices(values, indices, dense_shape) IndexedSlices and
tensor(values, dtype) a tensor, whose dtype stands, as that of an array does not.
"""

from __future__ import annotations

from tests.golden.build import Json

# In eager mode accumulators made alike are one, for as long as the process lives: each list has shapes of its own.
EAGER = {
    "sharing": [
        "a = CA(f32, [5]); b = CA(f32, [5], name='b'); c = CA(f32, [5, 1]); d = CA(f32, [5], SUM); e = CA(f64, [5])",
        "a.apply_grad([1, 2, 3, 4, 5])",
        *("b.num_accumulated()", "c.num_accumulated()", "d.num_accumulated()", "e.num_accumulated()"),
        *("b.take_grad(1)", "a.num_accumulated()", "a.apply_grad([1, 2, 3, 4, 5])", "a.num_accumulated()"),
        *("del a; b.num_accumulated()", "b.apply_grad([1, 1, 1, 1, 1])", "b.take_grad(1)", "b.set_global_step(1)"),
        *("f = CA(f32, [5]); f.num_accumulated()", "c.num_accumulated()", "g = CA(f32, [5], shared_name='g')"),
        "g.num_accumulated()",
    ],
    "shared_name": [
        "a = CA(f32, [1], shared_name='n'); b = CA(f32, [1], SUM, shared_name='n'); c = CA(f32, None, shared_name='n')",
        *("a.apply_grad([3])", "b.apply_grad([5])", "c.num_accumulated()", "b.take_grad(2)", "c.apply_grad([1, 2])"),
        *("c.apply_grad([1, 2], 1)", "c.apply_grad([9], 1)", "a.take_grad(1)", "d = CA(f32, [2], shared_name='n')"),
        *("d.apply_grad([9], 2)", "d.apply_grad([9, 9], 2)", "d.num_accumulated()", "c.apply_grad([4], 2)"),
        *("d.take_grad(1)", "a.num_accumulated()"),
        "del a; b.num_accumulated()",
        "e = CA(f32, [1], shared_name='n'); e.num_accumulated()",
    ],
    "no_name": ["a = CA(f32, [6], shared_name=''); b = CA(f32, [6]); a.apply_grad([1] * 6)", "b.num_accumulated()"],
    "properties": ["a = CA(f32, [1], shared_name='p', name='x/y'); a.name", "a.dtype"],
    "taken": [
        *("a = CA(f32, [1], SUM, shared_name='t'); a.apply_grad([1]); x = a.take_grad(1); a.apply_grad([5], 1)", "x"),
        *("a.apply_grad([7], 1); y = a.take_grad(1); a.apply_grad([9], 2)", "x", "y"),
    ],
    "gradients": [
        "a = CA(f32, [1], SUM, shared_name='grads')",
        *("a.apply_grad(tensor([1.0], f64))", "a.apply_grad(tensor([1], f16))", "a.apply_grad(tensor([1.5], f32))"),
        *("a.apply_grad([2])", "a.apply_grad([2.25])", "a.apply_grad([True])", "a.apply_grad(['a'])"),
        *("a.apply_grad(np.array([1.0]))", "a.apply_grad(np.array([3]))", "a.apply_grad(None)", "a.apply_grad([None])"),
        *("a.apply_grad([[1], [2, 3]])", "a.num_accumulated()", "a.take_grad(tensor(1, int64))", "a.take_grad(1)"),
    ],
    "slices": [
        "a = CA(f32, [3, 2], shared_name='slices')",
        *("a.apply_grad(slices([[1, 2]], [1], [3, 2]))", "a.apply_grad(slices([[1, 2], [3, 4]], [2, 2], [3, 2]))"),
        *("a.apply_grad(slices([[1, 2]], [1], None))", "a.apply_grad(slices([[1, 2]], [1], [4, 2]))", "a.take_grad(2)"),
        *("a.apply_grad(slices([[1, 2]], [1], [4, 2]), -1)", "a.apply_indexed_slices_grad"),
    ],
    "constructor": [
        *(f"CA({d}, [1], shared_name='new {d}').dtype" for d in ("f16", "f32", "f64")),
        *(f"CA({d}, [1], shared_name='new {d}')" for d in ("bf16", "int32", "complex64", "boolean", "string")),
        *(f"CA(f32, {shape}, shared_name='new {shape}').dtype" for shape in ("None", "[]", "[None]", "3")),
        *(f"CA(f32, {shape})" for shape in ("'ab'", "[-1]", "[-2]", "[1.5]")),
        *(f"CA(f32, [1], shared_name='r', reduction_type={r})" for r in ("'mean'", "''", "3", "'SUM '")),
        *("CA(f32, [1], shared_name='r', reduction_type=None).dtype", "CA(None, [1])", "SCA(f32, [1])"),
    ],
}
GRAPH = {
    "apart": [
        "a = CA(f32, [1]); b = CA(f32, [1]); c = CA(f32, [1], name='x'); d = CA(f32, [1], name='x'); e = SCA(f32, [1])",
        *("a.name", "b.name", "c.name", "d.name", "e.name", "a.apply_grad([1])", "a.num_accumulated()"),
        *("b.num_accumulated()", "e.num_accumulated()", "e.dtype"),
    ],
    "shared_name": [
        "a = CA(f32, [1], shared_name='n'); b = CA(f32, [1], shared_name='n'); c = CA(f32, [1], shared_name='m')",
        *("a.apply_grad([1])", "b.num_accumulated()", "c.num_accumulated()", "b.take_grad(1)", "a.num_accumulated()"),
    ],
    "sparse_shared": [
        "a = SCA(f32, [2, 1], shared_name='n'); b = SCA(f32, None, SUM, shared_name='n')",
        *("a.apply_grad([0], tensor([[1]], f32))", "b.apply_grad([0], tensor([[4]], f32))"),
        *("b.apply_grad([2], tensor([[4]], f32))", "b.take_grad(2).values", "a.num_accumulated()"),
    ],
    "constructor": [
        *(f"{c}({d}, [1]).num_accumulated()" for c in ("CA", "SCA") for d in ("f16", "f32", "f64", "boolean")),
        *(f"{c}(f32, {s})" for c in ("CA", "SCA") for s in ("'ab'", "[-1]", "[-2]")),
        *(f"CA(f32, [1], reduction_type={r}).num_accumulated()" for r in ("'mean'", "''", "3", "None")),
        "SCA(bf16, [1]).num_accumulated()",  # in one graph with it nothing runs any more
    ],
    "gradients": [
        "a = CA(f32, [1], SUM)",
        *("a.apply_grad(tensor([1.0], f64))", "a.apply_grad([True])", "a.apply_grad(['a'])", "a.apply_grad(None)"),
        *("a.apply_grad(np.array([3]))", "a.apply_grad(slices([1], [0], [1]))", "a.apply_grad(slices([1], [0], None))"),
        *("a.num_accumulated()", "a.take_grad(tensor(1, int64))", "a.take_grad(1)"),
    ],
    "sparse_gradients": [
        "a = SCA(f32, [3, 1])",
        *(
            "a.apply_grad([1.9], tensor([[1]], f32))",
            "a.apply_grad([0], [[2.0]])",
            "a.apply_indexed_slices_grad([1.0])",
        ),
        *("a.apply_grad([1], [[1.0]], [3.7, 1])", "a.apply_grad(None, [[1.0]])", "a.apply_grad([1], None)"),
        *("a.num_accumulated()", "a.take_grad(1).indices"),
    ],
}


def scenarios() -> list[Json]:
    lists = [
        (mode, name, lines) for mode, named in (("eager", EAGER), ("graph", GRAPH)) for name, lines in named.items()
    ]
    return [
        {
            "id": f"code.{mode}.{name}",
            "group": "accumulator.observations",
            "mode": mode,
            "calls": [{"do": line} for line in lines],
        }
        for mode, name, lines in lists
    ]
