"""The optimizers of SparseCores, written from TensorFlow's XLA programs, in float32."""

from __future__ import annotations

import numpy as np

F = np.float32
Arrays = tuple[np.ndarray, ...]


def sgd(arrays: Arrays, g: np.ndarray, lr: float) -> Arrays:
    (w,) = arrays
    return (w - F(lr) * g,)


def adagrad(arrays: Arrays, g: np.ndarray, lr: float) -> Arrays:
    w, a = arrays
    a = a + g * g
    return w - F(lr) * g / np.sqrt(a), a


def adagrad_momentum(
    arrays: Arrays,
    g: np.ndarray,
    lr: float,
    *,
    use_nesterov: bool,
    exponent: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> Arrays:
    w, a, m = arrays
    decay, share = (F(1), F(1)) if beta2 == 1 else (F(beta2), F(1) - F(beta2))
    a = decay * a + share * g * g
    scaled = np.power(a + F(epsilon), -F(1 / exponent)) * g
    m = F(beta1) * m + scaled
    update = F(beta1) * m + scaled if use_nesterov else m
    return w - F(lr) * update, a, m


def adam(
    arrays: Arrays,
    g: np.ndarray,
    lr: float,
    *,
    use_sum_inside_sqrt: bool,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> Arrays:
    w, m, v = arrays
    m = F(beta1) * m + (F(1) - F(beta1)) * g
    v = F(beta2) * v + (F(1) - F(beta2)) * g * g
    inside = F(epsilon) * F(epsilon) if use_sum_inside_sqrt else F(0)
    outside = F(0) if use_sum_inside_sqrt else F(epsilon)
    return w - F(lr) * m / (np.sqrt(v + inside) + outside), m, v


def ftrl(
    arrays: Arrays,
    g: np.ndarray,
    lr: float,
    *,
    multiply_linear_by_learning_rate: bool,
    beta: float,
    learning_rate_power: float,
    l1_regularization_strength: float,
    l2_regularization_strength: float,
) -> Arrays:
    w, a, linear = arrays
    l1 = F(l1_regularization_strength)
    l2 = F(l2_regularization_strength)
    new_a = a + g * g
    power_new = np.power(new_a, -F(learning_rate_power))
    delta = power_new - np.power(a, -F(learning_rate_power))
    if multiply_linear_by_learning_rate:
        linear = linear + F(lr) * g - delta * w
        l1 = F(lr) * l1
        denominator = power_new + F(2) * F(lr) * l2 + F(beta)
    else:
        linear = linear + g - delta * w / F(lr)
        denominator = (power_new + F(beta)) / F(lr) + F(2) * l2
    return (np.clip(linear, -l1, l1) - linear) / denominator, new_a, linear


FORMULAS = {
    "Sgd": sgd,
    "Adagrad": adagrad,
    "AdagradMomentum": adagrad_momentum,
    "Adam": adam,
    "Ftrl": ftrl,
}
SLOTS = {
    "Sgd": [],
    "Adagrad": ["accumulator"],
    "AdagradMomentum": ["accumulator", "momenta"],
    "Adam": ["momenta", "velocity"],
    "Ftrl": ["accumulator", "linear"],
}
ATTRIBUTES: dict[str, list[dict[str, float]]] = {
    "Sgd": [{}],
    "Adagrad": [{}],
    "AdagradMomentum": [
        {"use_nesterov": False, "exponent": 2.0, "beta1": 0.9, "beta2": 1.0, "epsilon": 1e-10},
        {"use_nesterov": True, "exponent": 3.0, "beta1": 0.5, "beta2": 0.75, "epsilon": 0.1},
    ],
    "Adam": [
        {"use_sum_inside_sqrt": False, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-7},
        {"use_sum_inside_sqrt": True, "beta1": 0.5, "beta2": 0.75, "epsilon": 0.1},
    ],
    "Ftrl": [
        {
            "multiply_linear_by_learning_rate": multiplies,
            "beta": beta,
            "learning_rate_power": power,
            "l1_regularization_strength": l1,
            "l2_regularization_strength": 0.01,
        }
        for multiplies, beta, power, l1 in (
            (False, 0.0, -0.5, 0.0),
            (False, 1.0, -0.5, 0.1),
            (True, 0.5, -0.7, 0.1),
        )
    ],
}
CASES = [(name, attributes) for name, rows in ATTRIBUTES.items() for attributes in rows]


def draw_tables(
    rng: np.random.Generator, name: str, rows: int, width: int
) -> dict[str, np.ndarray]:
    """A table and its slots by name; accumulators and velocities above 0."""
    tables = {"embedding_table": rng.normal(size=(rows, width)).astype(np.float32)}
    for slot in SLOTS[name]:
        drawn = rng.normal(size=(rows, width)).astype(np.float32)
        is_square = slot in ("accumulator", "velocity")
        tables[slot] = np.abs(drawn) + F(0.1) if is_square else drawn
    return tables
