"""Charts read by their printed words: axes, values, and the caption made of them."""
