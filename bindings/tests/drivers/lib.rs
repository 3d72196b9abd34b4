//! Has only tests, in `tests`. `bindings/tests/test_drivers.py` runs them.
