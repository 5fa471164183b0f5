"""Collections on disk: counted in chunks, merged exactly, kept as blocks of compressed rows.

1. :func:`count_run` counts a chunk with a vocabulary of its own; :class:`RunWriter` does so for a stream.
2. :func:`merge_runs` merges the sorted vocabularies: the terms, document frequencies and labels of all.
3. :func:`build_store` renumbers the rows and sorts them by key into a :class:`RowStore`.

The store depends on the set of documents, not on chunks, their order, or memory.
"""

from widemargin.on_disk.building import build_store
from widemargin.on_disk.chunk_counting import counting_rules
from widemargin.on_disk.cutting import (
    BLOCK_ENTRIES,
    RANGE_ENTRIES,
    BlockPlan,
    Renumbering,
    cut_by_keys,
    cut_into_blocks,
    join_pieces,
    key_bounds,
    sort_pieces,
)
from widemargin.on_disk.merging import Merged, hashed_frequencies, merge_runs, merged_facts, merged_terms
from widemargin.on_disk.row_store import RowStore
from widemargin.on_disk.rows import Rows, decode, encode
from widemargin.on_disk.run_writer import RunWriter
from widemargin.on_disk.runs import Run, RunInfo, count_run, vectors_run, write_run
from widemargin.on_disk.scratch import Scratch
from widemargin.on_disk.store_writer import StoreWriter
from widemargin.on_disk.terms import Terms, merge_terms

__all__ = [
    "BLOCK_ENTRIES",
    "RANGE_ENTRIES",
    "BlockPlan",
    "Merged",
    "Renumbering",
    "RowStore",
    "Rows",
    "Run",
    "RunInfo",
    "RunWriter",
    "Scratch",
    "StoreWriter",
    "Terms",
    "build_store",
    "count_run",
    "counting_rules",
    "cut_by_keys",
    "cut_into_blocks",
    "decode",
    "encode",
    "hashed_frequencies",
    "join_pieces",
    "key_bounds",
    "merge_runs",
    "merge_terms",
    "merged_facts",
    "merged_terms",
    "sort_pieces",
    "vectors_run",
    "write_run",
]
