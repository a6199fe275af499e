"""What gradient descent and momentum do to slices."""

import numpy as np

import gradlab as gl


def test_gradient_descent_takes_slices_one_by_one() -> None:
    v = gl.Variable(np.float32([[1e8], [0.0]]))
    g = gl.IndexedSlices(np.float32([[3.0], [3.0], [1.0]]), [0, 0, 1])
    gl.train.GradientDescentOptimizer(1.0).apply_gradients([(g, v)])
    one_by_one = np.float32(np.float32(1e8) - np.float32(3)) - np.float32(3)
    assert v.numpy().ravel().tolist() == [one_by_one, -1]
    assert one_by_one != np.float32(1e8) - np.float32(6)


def test_momentum_sums_slices_and_leaves_other_rows() -> None:
    v = gl.Variable(np.zeros((3, 1), np.float32))
    opt = gl.train.MomentumOptimizer(1.0, 0.5)
    for indices in ([0, 0, 2], [2, 2, 1]):
        opt.apply_gradients([(gl.IndexedSlices(np.ones((3, 1), np.float32), indices), v)])
    assert opt.get_slot(v, "momentum").numpy().ravel().tolist() == [2, 1, 2.5]
    assert v.numpy().ravel().tolist() == [-2, -1, -3.5]


def test_locking_changes_no_value() -> None:
    v, w = gl.Variable([1.0]), gl.Variable([1.0])
    gl.train.GradientDescentOptimizer(0.1, use_locking=True).apply_gradients([([1.0], v)])
    gl.train.GradientDescentOptimizer(0.1).apply_gradients([([1.0], w)])
    assert v.numpy() == w.numpy()
