// What Python packs (gradlab/live/packed.py), for tests.

export async function pack(contents, bytes = []) {
  const table = new TextEncoder().encode(JSON.stringify(contents));
  const padding = new Uint8Array(-table.length & 3).fill(32);
  const size = new Uint32Array([table.length + padding.length]);
  const parts = new Blob([size, table, padding, new Uint8Array(bytes)]).stream();
  const packed = parts.pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}
