//! Reports of a run: for a terminal, a browser, a script.
