"""Ray's start has an end, whatever Ray does: refused, silent, failing or slow. Ray itself is a stand-in here."""

import socket
import sys
import threading
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gradlab.workers import Bowl, Experiment, ray_start, run
from gradlab.workers.ray_start import connected


class Ray(ModuleType):
    """Comes up when it is told to, or fails with an error."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.go, self.error = threading.Event(), None
        self.up, self.calls = False, list[Any]()
        self.util = SimpleNamespace(get_node_ip_address=lambda: "127.0.0.1")

    def is_initialized(self) -> bool:
        return self.up

    def init(self, **options: Any) -> None:
        self.calls.append(options)
        for _ in range(3000):  # Ray's waits are loops, too
            if self.go.wait(0.02):
                break
        if self.error is not None:
            raise self.error
        self.up = True

    def shutdown(self) -> None:
        self.calls.append("shutdown")
        self.up = False


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ray]:
    ray = Ray()
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    yield ray
    ray.go.set()
    for held in ray_start._abandoned:
        held.join(30)
    ray_start._abandoned.clear()
    assert not ray.up


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of somebody who takes calls and says nothing."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_ray_that_is_up_in_time_is_held_up_and_ended(ray: Ray) -> None:
    ray.go.set()
    with connected(timeout=60) as given:
        assert given is ray and ray.up
    assert not ray.up and ray.calls[-1] == "shutdown"
    with connected("local"):
        assert ray.up


def test_a_ray_of_our_own_that_is_late_is_ended(ray: Ray) -> None:
    with pytest.raises(TimeoutError, match=r"Ray was not up, at address='local', timeout=0.2: give more"):
        run(Experiment(Bowl()), "ray", timeout=0.2)
    assert ray.calls[-1] == "shutdown"
    ray.go.set()
    with connected(timeout=60):
        assert ray.up


def test_a_ray_that_is_late_is_left_behind_and_ended_when_it_comes(ray: Ray, silent: str) -> None:
    with pytest.raises(TimeoutError, match=r"not over in time: Ray was not up, at address=.* timeout=0.2: give more"):
        run(Experiment(Bowl()), "ray", address=silent, timeout=0.2)
    with pytest.raises(RuntimeError, match="a Ray that was not up in time is still starting: try again later"):
        run(Experiment(Bowl()), "ray", timeout=0.2)
    ray.go.set()
    ray_start._abandoned[0].join(30)
    assert not ray.up and ray.calls[-1] == "shutdown"
    with connected(timeout=60):
        assert ray.up


def test_a_ray_that_cannot_start_says_what_to_do(ray: Ray, silent: str) -> None:
    ray.go.set()
    ray.error = Exception("many lines\nno memory")
    with pytest.raises(RuntimeError, match=r"Ray cannot be started on this machine \(no memory\): see whether"):
        run(Experiment(Bowl()), "ray")
    ray.error = ConnectionError("Could not find any running Ray instance")
    with pytest.raises(ConnectionError, match=r"no Ray answers at auto \(Could not find .*: start one there"):
        run(Experiment(Bowl()), "ray", address="auto")


@pytest.mark.parametrize("prefix", ["", "ray://"])
def test_an_address_where_nobody_answers(ray: Ray, silent: str, prefix: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        address = f"{prefix}127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ConnectionError, match=rf"no Ray answers at {address} \(.*refused\): start one there by"):
            run(Experiment(Bowl()), "ray", address=address, timeout=0.3)
    assert ray.calls == []


@pytest.mark.parametrize("address", ["here:", ":", "127.0.0.1:port"])
def test_what_is_no_address(ray: Ray, address: str) -> None:
    with pytest.raises(ValueError, match="address must be HOST:PORT, ray://HOST:PORT, auto or local; got"):
        run(Experiment(Bowl()), "ray", address=address)


def test_an_address_beside_another_ray_is_refused(ray: Ray) -> None:
    ray.up = True
    with pytest.raises(ValueError, match="Ray is connected already, so address="):
        run(Experiment(Bowl()), "ray", address="1.2.3.4:6379")
    ray.up = False


def test_ctrl_c_leaves_a_ray_that_is_not_up(ray: Ray, silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(self: Any, until: Any, timeout: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ray_start._Held, "wait", press)
    with pytest.raises(KeyboardInterrupt), connected(silent):
        pass
    assert len(ray_start._abandoned) == 1
