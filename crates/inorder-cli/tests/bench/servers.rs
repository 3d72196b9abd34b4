//! The same experiment on servers.

use crate::common::{Place, TINY, with_status};
use inorder_bench::results::{Status, Store};
use inorder_engine::ENGINES;
use inorder_testing::is_installed;

#[test]
fn an_experiment_of_ours_runs_on_servers_too() {
    if !ENGINES.iter().all(|engine| is_installed(*engine)) {
        return;
    }
    let place = Place::for_servers(TINY);
    let said = place.run(&[
        "bench",
        "disk-io",
        "--engine=postgres,mariadb",
        "--set=rows=2000",
        "--set=key=int-random",
        "--repetitions=1",
    ]);
    said.expect(0, &["left out: disk-io: clustered, postgres", "done in"]);
    assert_eq!(place.names().len(), 2, "{:?}", place.names());
    let run = Store::read(&place.file()).expect("a run");
    assert_eq!(run.meta.engines.len(), 2);
    // Clustered and not in MariaDB, not clustered in PostgreSQL, and the baseline once more.
    assert_eq!(with_status(&run, Status::Done).len(), 4);
    for trial in &run.trials {
        let last = |probe: &str, part: &str| trial.last(probe, part);
        assert_eq!(last("rows_stored", ""), Some(2000.0));
        let written = last("engine_written_bytes", "").expect("bytes");
        let parts = ["main", "wal"].map(|part| last("engine_written_bytes", part).expect(part));
        assert!(parts.iter().all(|bytes| *bytes > 0.0), "{parts:?}");
        assert!(
            written >= parts.iter().sum::<f64>(),
            "{written} of {parts:?}"
        );
        assert!(last("cpu_s", "server").is_some());
        assert!(last("size_bytes", "").expect("a size") > 2000.0 * 500.0);
        assert!(last("point_lookup_us", "cold.p50").is_none());
        let is_na = |(name, value): &(String, String)| name == "journal_mode" && value == "n/a";
        assert!(trial.settings.iter().any(is_na));
    }
}
