"""Published tables, reproduced: each figure next to the published one."""

from widemargin.papers.registry import Paper, check_drawable, find_paper, list_papers, run_paper
from widemargin.papers.result import Cell, PaperResult

__all__ = ["Cell", "Paper", "PaperResult", "check_drawable", "find_paper", "list_papers", "run_paper"]
