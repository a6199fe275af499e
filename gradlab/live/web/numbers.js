// Numbers as readers see them, like those of pictures and sentences (`_base/numbers.py`): 12,346
// and −3.

export const plain = (digits) =>
  digits
    .replace(/^-/, "−")
    .replace(/^(−?)(\d{4,})/, (_, sign, whole) => sign + whole.replace(/\B(?=(\d{3})+$)/g, ","));
