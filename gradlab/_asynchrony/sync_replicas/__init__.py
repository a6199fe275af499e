"""Synchronous training with backup workers, on the conditional accumulators.

Three workers in threads of their own; each update is the mean of the first two gradients, or of all three:

>>> import threading
>>> import gradlab as gl
>>> v, step, enough = gl.Variable([8.0]), gl.Variable(0, trainable=False), threading.Event()
>>> opt = gl.train.SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 2, total_num_replicas=3)
>>> opt.build([([0.0], v)], step)
>>> def work(name):
...     with opt.worker(name):  # until the chief stops
...         while True:
...             if opt.apply_gradients([([1.0], v)], step, worker=name).token >= 10:
...                 enough.set()
>>> threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
>>> with opt.chief(num_tokens=0):
...     for thread in threads:
...         thread.start()
...     reached = enough.wait(30)
>>> for thread in threads:
...     thread.join()
>>> reached, v.numpy().item() == 8 - int(step), min(len(update.contributors) for update in opt.updates) >= 2
(True, True, True)
"""

from .exchange import Waiting as Waiting
from .optimizer import SyncReplicasOptimizer as SyncReplicasOptimizer
from .rounds import Push as Push
from .rounds import Update as Update
