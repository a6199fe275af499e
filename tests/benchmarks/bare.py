"""The same picture without axes, drawn by hand on a canvas: the least that any figure can cost."""

DATA = """\
import numpy as np
X = np.linspace(0, 10, 500)
YY, XX = np.mgrid[0:64, 0:64] / 10.0
def lines(k): return [np.sin(X * (1 + j / 5) + k / 25) for j in range(5)]
def image(k): return np.sin(XX + k / 25) * np.cos(YY - k / 40)
def words(k): return f"step {k}"
"""

# The least that a slider asking the kernel can cost: typed arrays, one request at a time, drawn by
# hand, no axes.
CANVAS = (
    DATA
    + '''\
import anywidget
class Raw(anywidget.AnyWidget):
    _esm = """
    export default { render({ model, el }) {
      el.innerHTML = '<input type="range" min="0" max="400" value="200" style="width:500px"><br>'
        + '<canvas width="800" height="400"></canvas>';
      const [input, canvas] = [el.querySelector("input"), el.querySelector("canvas")], ctx = canvas.getContext("2d");
      input.dataset.lmSuppressShortcuts = "true";
      let busy = false, waiting = null;
      const ask = (k) => { if (busy) { waiting = k; return; } busy = true; model.send({ k }); };
      const draw = (m, [lines, cells]) => {
        busy = false;
        if (waiting !== null) { const k = waiting; waiting = null; ask(k); }
        const y = new Float32Array(lines.buffer.slice(lines.byteOffset, lines.byteOffset + lines.byteLength));
        const u = new Uint8Array(cells.buffer, cells.byteOffset, cells.byteLength);
        ctx.clearRect(0, 0, 800, 400);
        for (let j = 0; j < 5; j++) {
          ctx.beginPath();
          for (let i = 0; i < 500; i++) ctx.lineTo(20 + 0.7 * i, 200 - 120 * y[500 * j + i]);
          ctx.stroke();
        }
        const data = new ImageData(64, 64);
        for (let i = 0; i < 4096; i++) { data.data[4 * i] = u[i]; data.data[4 * i + 3] = 255; }
        const small = new OffscreenCanvas(64, 64);
        small.getContext("2d").putImageData(data, 0, 0);
        ctx.drawImage(small, 420, 40, 320, 320);
        ctx.fillText(m.words, 30, 30);
      };
      model.on("msg:custom", draw);
      input.addEventListener("keydown", (e) => e.stopPropagation());
      input.addEventListener("input", () => ask(Number(input.value)));
      ask(200);
    } };
    """
raw = Raw()
def answer(_, message, __):
    k = message["k"]
    cells = ((image(k) + 1) * 127).astype("u1").tobytes()
    raw.send({"words": words(k)}, [np.concatenate(lines(k)).astype("<f4").tobytes(), cells])
raw.on_msg(answer)
raw
'''
)


# The least that scrubbing can cost: the same hand-drawn canvas with all 401 frames in the page.
ALL_FRAMES = (
    DATA
    + '''\
import anywidget, traitlets
class Raw(anywidget.AnyWidget):
    frames = traitlets.Bytes().tag(sync=True)
    _esm = """
    export default { render({ model, el }) {
      el.innerHTML = '<input type="range" min="0" max="400" value="200" style="width:500px"><br>'
        + '<canvas width="800" height="400"></canvas>';
      const [input, canvas] = [el.querySelector("input"), el.querySelector("canvas")], ctx = canvas.getContext("2d");
      input.dataset.lmSuppressShortcuts = "true";
      const { buffer, byteOffset, byteLength } = model.get("frames");
      const all = new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength)), size = 2500 + 4096;
      const draw = (k) => {
        const y = all.subarray(k * size, (k + 1) * size), u = y.subarray(2500);
        ctx.clearRect(0, 0, 800, 400);
        for (let j = 0; j < 5; j++) {
          ctx.beginPath();
          for (let i = 0; i < 500; i++) ctx.lineTo(20 + 0.7 * i, 200 - 120 * y[500 * j + i]);
          ctx.stroke();
        }
        const data = new ImageData(64, 64);
        for (let i = 0; i < 4096; i++) { data.data[4 * i] = 127 * (u[i] + 1); data.data[4 * i + 3] = 255; }
        const small = new OffscreenCanvas(64, 64);
        small.getContext("2d").putImageData(data, 0, 0);
        ctx.drawImage(small, 420, 40, 320, 320);
        ctx.fillText(`step ${k}`, 30, 30);
      };
      input.addEventListener("keydown", (e) => e.stopPropagation());
      input.addEventListener("input", () => draw(Number(input.value)));
      draw(200);
    } };
    """
frames = [np.concatenate([*lines(k), image(k).ravel()]) for k in range(401)]
raw = Raw(frames=np.concatenate(frames).astype("<f4").tobytes())
raw
'''
)
