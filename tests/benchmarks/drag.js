// A pointer that goes one position of a slider further at each frame of the screen, to and fro, for
// some seconds; gives when it began and ended. The driver's own pointer waits for the page at every
// move, and makes about 40 a second.
async (handle, [seconds, places]) => {
  const native = handle.matches("input");
  const last = native ? (handle.max - handle.min) / handle.step : places;
  const track = (native ? handle : handle.closest(".noUi-target")).getBoundingClientRect();
  function go(place) {
    if (native) {
      handle.value = Number(handle.min) + place * handle.step;
      handle.dispatchEvent(new InputEvent("input", { bubbles: true }));
    } else {
      const clientX = track.left + (track.width * place) / last;
      const clientY = track.top + track.height / 2;
      document.documentElement.dispatchEvent(
        new MouseEvent("mousemove", { clientX, clientY, buttons: 1, bubbles: true }),
      );
    }
  }
  const begin = performance.now();
  await new Promise((done) => {
    let place = 0;
    let way = 1;
    const frame = () => {
      if (performance.now() - begin > 1000 * seconds) return done();
      if (place + way < 0 || place + way > last) way = -way;
      go((place += way));
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  return [begin, performance.now()];
};
