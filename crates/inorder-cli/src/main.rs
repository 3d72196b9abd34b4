//! The command `inorder`.

fn main() {}
