//! Compares the documentation with the program.

#[macro_use]
#[path = "../../serve/tests/common/help.rs"]
mod help;

documentation_tests!(program: "inorder-watch", removed: "user add");
