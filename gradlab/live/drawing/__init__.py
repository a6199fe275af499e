"""What pictures are drawn with: colors, labels, lanes, shapes, strips and lines that move."""
