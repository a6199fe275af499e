// What Python packed: a JSON table of contents and bytes after it, all deflated.

export async function unpack(packed) {
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(plain).arrayBuffer();
  const size = new DataView(buffer).getUint32(0, true);
  let at = 4 + size;
  return {
    contents: JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size))),
    next(length) {
      // the bytes come in the order of the table
      at += length;
      return new Uint8Array(buffer, at - length, length);
    },
    rest: () => new Uint8Array(buffer, at),
  };
}
