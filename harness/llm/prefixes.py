"""What retrieval models want put before a question and before a passage.

Left out, nothing fails: the ranking is just worse.
"""

_SEARCH = "Represent this sentence for searching relevant passages: "
_INSTRUCT = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)

PREFIXES: dict[str, tuple[str, str]] = {
    "all-minilm": ("", ""),
    "all-mpnet": ("", ""),
    "bge-m3": ("", ""),
    "bge": (_SEARCH, ""),
    "bge-base-zh": ("为这个句子生成表示以用于检索相关文章：", ""),
    "bge-large-zh": ("为这个句子生成表示以用于检索相关文章：", ""),
    "bge-small-zh": ("为这个句子生成表示以用于检索相关文章：", ""),
    "e5": ("query: ", "passage: "),
    "e5-large-instruct": (_INSTRUCT, ""),
    "e5-mistral": (_INSTRUCT, ""),
    "embedding-gemma": ("task: search result | query: ", "title: none | text: "),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "granite-embedding": ("", ""),
    "gte": ("", ""),
    "gte-qwen": (_INSTRUCT, ""),
    "jina-embeddings-v2": ("", ""),
    "mxbai-embed": (_SEARCH, ""),
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "paraphrase-multilingual": ("", ""),
    "qwen3-embedding": (_INSTRUCT, ""),
    "ruri-v3": ("検索クエリ: ", "検索文書: "),
    "snowflake-arctic-embed": (_SEARCH, ""),
    "snowflake-arctic-embed2": ("query: ", ""),
    "snowflake-arctic-embed-l-v2": ("query: ", ""),
    "snowflake-arctic-embed-m-v2": ("query: ", ""),
    "text-embedding-3": ("", ""),
    "text-embedding-ada": ("", ""),
}
"""Part of the model's name -> (before a question, before a passage). The longest part wins."""


def prefixes(model: str) -> tuple[str, str] | None:
    """Return what goes before a question and before a passage; None for an unknown family.

    >>> prefixes("nomic-embed-text:v1.5"), prefixes("BAAI/bge-m3"), prefixes("mystery")
    (('search_query: ', 'search_document: '), ('', ''), None)
    """
    parts = [part for part in PREFIXES if part in model.lower()]
    return PREFIXES[max(parts, key=len)] if parts else None
