//! The replay of the published rig, beside the rig's own data.

use inorder_bench::{
    claims::published::beside,
    engines::Engines,
    experiment::{Overrides, Scale},
    experiments::built_in,
    plan::plan,
    results::{Run, Status},
    trial::{self, TrialSpec},
};

/// Points of a hundred that a replay may be off.
const POINTS_MAX: f64 = 0.5;

/// The first of ten points: `inorder bench disk-io --scale full` has them all.
#[test]
fn sqlite_saves_what_it_saved_in_the_published_rig() {
    let overrides = Overrides {
        // The bytes are the same without waiting for the disk.
        set: [("rows", "100000"), ("synchronous", "off")]
            .map(|(factor, level)| (factor.to_owned(), vec![level.to_owned()]))
            .into(),
        repetitions: Some(1),
        ..Overrides::default()
    };
    let experiments = built_in(&["disk-io".to_owned()], Scale::Full, &overrides).unwrap();
    let planned = plan(&experiments, 1, &Engines::default()).unwrap();
    let mut run = Run {
        experiments: planned.experiments,
        cells: planned.cells,
        trials: planned.trials,
        ..Run::default()
    };
    for trial in &mut run.trials {
        let cell = run.cells.iter().find(|cell| cell.id == trial.cell).unwrap();
        if cell.is_twin {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let spec = TrialSpec {
            file: "disk-io.toml".to_owned(),
            text: experiments[0].text.clone(),
            scale: Scale::Full,
            overrides: overrides.clone(),
            levels: cell.levels.clone(),
            // Maps of pages and VACUUM are of the first.
            repetition: 1,
            seed: trial.seed,
            folder: folder.path().to_owned(),
            is_rehearsal: false,
        };
        let outcome = trial::run(&spec, &Engines::default(), &mut |_| {}).unwrap();
        trial.status = Status::Done;
        trial.samples = outcome.samples;
    }
    let replays = beside(&run);
    let layouts: Vec<&str> = replays.iter().map(|replay| replay.curve.layout).collect();
    assert_eq!(layouts, ["clustered", "not-clustered"]);
    for replay in &replays {
        let apart = replay.distance_points();
        assert!(
            apart <= POINTS_MAX,
            "{}: {apart:.2} points, {:?}",
            replay.curve.layout,
            replay.points
        );
    }
}
