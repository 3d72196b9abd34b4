//! Prints the proven migration script of a plan: `migration DATABASE PLAN`.

use std::path::Path;

use inorder_advise::{Plan, migrate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [database, plan] = &arguments[..] else {
        return Err("usage: migration DATABASE PLAN".into());
    };
    let plan: Plan = serde_json::from_str(&std::fs::read_to_string(plan)?)?;
    let folder = tempfile::tempdir()?;
    let migration = migrate(
        Path::new(database),
        folder.path(),
        database,
        &plan.changes,
        &[],
    )?;
    print!("{}", migration.script);
    Ok(())
}
