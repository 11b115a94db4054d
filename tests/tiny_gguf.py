"""A language model of a few kilobytes, for tests of what runs real weights."""

from pathlib import Path

import numpy as np

WIDTH, HEADS, INNER, CONTEXT = 32, 2, 64, 512
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"


def write_tiny_gguf(path: Path, seed: int = 0) -> Path:
    """Write a llama of one layer with random weights, whose tokens are single bytes."""
    from gguf import GGUFWriter, TokenType

    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁"]
    kinds = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL]
    kinds += [TokenType.BYTE] * 256 + [TokenType.NORMAL]
    writer = GGUFWriter(str(path), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)
    draw = np.random.default_rng(seed)
    square, wide, tall = (WIDTH, WIDTH), (INNER, WIDTH), (WIDTH, INNER)
    shapes = {
        "token_embd": (len(tokens), WIDTH), "output": (len(tokens), WIDTH),
        "blk.0.attn_q": square, "blk.0.attn_k": square, "blk.0.attn_v": square,
        "blk.0.attn_output": square, "blk.0.ffn_gate": wide, "blk.0.ffn_up": wide,
        "blk.0.ffn_down": tall,
    }  # fmt: skip
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", draw.standard_normal(shape).astype(np.float32))
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
