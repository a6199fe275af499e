// A page in the frame of another one, its owner: no heading of its own, the owner's colors, and no
// taller than it has to be. The owner sends { theme: "dark" or "light" } and is sent { height } in
// CSS pixels, first when there is something to see.

export function joinOwner() {
  const { documentElement: root, body } = document;
  root.dataset.framed = "";
  window.addEventListener("message", ({ source, data }) => {
    if (source === window.parent && ["dark", "light"].includes(data?.theme))
      root.dataset.theme = data.theme;
  });
  const tell = () => window.parent.postMessage({ height: body.scrollHeight }, "*");
  const first = new MutationObserver(() => {
    first.disconnect();
    new ResizeObserver(tell).observe(body); // which tells at once, too
  });
  first.observe(body, { attributeFilter: ["data-frame"], subtree: true });
}
