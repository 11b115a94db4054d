"""Findings: what becomes a sentence of the report, as numbers and ids."""
