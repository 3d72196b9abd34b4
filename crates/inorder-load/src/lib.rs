//! Where rows come from (CSV, JSONL, IMDb's TSV) and the order they are written in.
