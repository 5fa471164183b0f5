"""Regular expressions for tokens, compiled into automata that the core runs."""

from __future__ import annotations

from widemargin.text.patterns.compiled import CompiledPattern, compile_pattern

__all__ = ["CompiledPattern", "compile_pattern"]
