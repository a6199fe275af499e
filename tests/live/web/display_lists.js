// Display lists for tests: 32-bit words, each operation led by its code and its length.

const bits = (number) => new Uint32Array(new Float32Array([number]).buffer)[0];

export const floats = (...numbers) => numbers.map(bits);

export function displayList(...operations) {
  const words = operations.flatMap(([code, body]) => [code, body.length + 2, ...body]);
  return new DataView(new Uint32Array(words).buffer);
}
