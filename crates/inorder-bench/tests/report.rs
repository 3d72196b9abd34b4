//! Reports of a made-up run, in every format.

#[path = "report/browser.rs"]
mod browser;
#[path = "report/page.rs"]
mod page;
#[path = "report/sample.rs"]
mod sample;
#[path = "report/whole.rs"]
mod whole;

use inorder_bench::{
    format,
    probes::PROBES,
    report::{
        Error, Format, Options,
        compare::{Change, compare, render as render_comparison},
        render, render_with,
    },
    results::{Run, Sample},
};

fn report(format: Format, color: bool, width: usize) -> String {
    let options = Options { color, width };
    render_with(&sample::run(), sample::CLAIMS, format, &options).unwrap()
}

#[test]
fn term() {
    insta::assert_snapshot!(report(Format::Term, false, 100));
}

#[test]
fn term_fits_its_width_and_has_no_color_unless_asked() {
    for width in [60, 80, 100, 160] {
        let plain = report(Format::Term, false, width);
        for line in plain.lines() {
            // An address is never broken.
            let is_address = line.trim_start().starts_with("https://");
            assert!(
                is_address || line.chars().count() <= width,
                "{width}: {line}"
            );
        }
        assert!(plain.is_ascii(), "a plain report is ASCII");
    }
    assert!(report(Format::Term, true, 100).contains("\u{1b}["));
}

#[test]
fn md() {
    insta::assert_snapshot!(report(Format::Md, false, 100));
}

#[test]
fn a_rate_that_was_not_kept_is_said_in_every_format_that_is_read() {
    let mut run = sample::run();
    let cell = run.trials[0].cell;
    for trial in run.trials.iter_mut().filter(|trial| trial.cell == cell) {
        trial.samples.push(Sample {
            probe: "rate_kept_share".to_owned(),
            part: String::new(),
            rows: 1,
            value: Some(0.5),
        });
    }
    for format in [Format::Term, Format::Md, Format::Html] {
        let text = render_with(&run, sample::CLAIMS, format, &Options::default()).unwrap();
        assert!(text.contains("RATE NOT KEPT"), "{format:?}");
        let kept = report(format, false, 100);
        assert!(!kept.contains("RATE NOT KEPT"), "{format:?}");
    }
}

#[test]
fn csv_has_every_sample_of_finished_trials() {
    let csv = report(Format::Csv, false, 100);
    let run = sample::run();
    let cells: Vec<u64> = run.cells.iter().map(|cell| cell.id).collect();
    let samples: usize = cells
        .iter()
        .flat_map(|cell| run.trials_of(*cell))
        .map(|trial| trial.samples.len())
        .sum();
    assert_eq!(csv.lines().count(), samples + 1);
    let head: Vec<&str> = csv.lines().take(12).collect();
    insta::assert_snapshot!(head.join("\n"));
}

#[test]
fn json() {
    let text = report(Format::Json, false, 100);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["format"], "inorder-report");
    assert_eq!(value["experiments"].as_array().unwrap().len(), 4);
    // The smallest experiment shows every field; the others only have more of them.
    let small = serde_json::to_string_pretty(&value["experiments"][2]).unwrap();
    insta::assert_snapshot!(small);
    let claims = serde_json::to_string_pretty(&value["claims"]).unwrap();
    insta::assert_snapshot!("json_claims", claims);
}

#[test]
fn unobserved_is_never_zero() {
    let mut run = sample::run();
    for trial in &mut run.trials {
        for sample in &mut trial.samples {
            if sample.probe == "size_bytes" && trial.cell == 1 {
                sample.value = None;
            }
        }
    }
    let text = render_with(&run, &[], Format::Md, &Options::default()).unwrap();
    let baseline = text.lines().find(|line| line.contains("**uuid4, rowid**"));
    assert!(baseline.unwrap().contains("| n/a |"), "{baseline:?}");
}

#[test]
fn an_empty_run_renders_everywhere() {
    for format in Format::ALL {
        let text = render(&Run::default(), *format, &Options::default()).unwrap();
        assert!(!text.is_empty(), "{}", format.name());
    }
}

#[test]
fn names_of_formats_are_read_back() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(*format));
    }
    assert_eq!(Format::from_name("pdf"), None);
}

#[test]
fn a_bad_answer_names_its_experiment_and_place() {
    let mut run = sample::run();
    run.experiments[1].answer = "It takes {ratio cpu_us key=uuid7 / key=uuid4}.".into();
    let error = render(&run, Format::Term, &Options::default()).unwrap_err();
    let message = "experiment `cache`, answer: at character 10: unknown metric `cpu_us`: did you mean \
                   `cpu_us_per_row`? (known: cpu_us_per_row, ";
    assert!(error.to_string().starts_with(message), "{error}");
}

#[test]
fn answers_say_what_is_missing_and_what_is_noisy() {
    let mut run = sample::run();
    run.experiments[1].answer =
        "CPU {value cpu_us_per_row key=uuid7,cache_kib=8192}, bytes {value \
                                 engine_bytes_per_row key=uuid7,cache_kib=8192}, {value size_bytes \
                                 key=uuid7,cache_kib=8192}, {saved engine_bytes_per_row \
                                 key=uuid7,cache_kib=8192 / key=uuid4,cache_kib=8192}, {interval \
                                 size_bytes key=uuid7,cache_kib=8192 / key=uuid4,cache_kib=8192}."
            .into();
    let text = render_with(&run, &[], Format::Md, &Options::default()).unwrap();
    let answer = text.lines().find(|line| line.starts_with("CPU "));
    assert_eq!(
        answer.unwrap(),
        "CPU 2.44 us (noisy), bytes 239 B, n/a, 95%, n/a. Ids are stored as BLOB."
    );
}

/// The same run on a machine with another disk, where one cell became slower and larger.
fn later() -> Run {
    let mut run = sample::run();
    run.meta.seed = 43;
    run.meta.host[4].1 = "xfs".into();
    run.meta.host[5].1 = "398 us".into();
    run.experiments
        .retain(|experiment| experiment.name != "document-index");
    run.cells.retain(|cell| cell.experiment != "document-index");
    let slower = run.cells[1].id;
    let noisy = run.cells.iter().find(|cell| cell.experiment == "cache");
    let noisy = noisy.unwrap().id;
    for trial in &mut run.trials {
        for sample in &mut trial.samples {
            let is_time = sample.probe == "cpu_s";
            let factor = match trial.cell {
                cell if cell == slower && (is_time || sample.probe == "size_bytes") => 1.5,
                cell if cell == noisy && is_time => 0.5,
                _ => 1.0,
            };
            sample.value = sample.value.map(|value| value * factor);
        }
    }
    run
}

#[test]
fn a_run_compared_with_itself_has_not_changed() {
    let run = sample::run();
    let comparison = compare(&run, &run);
    assert!(comparison.warnings.is_empty(), "{:?}", comparison.warnings);
    assert_eq!(comparison.experiments.len(), 3);
    let changes = comparison
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.cells)
        .flat_map(|cell| &cell.metrics);
    assert!(
        changes
            .into_iter()
            .all(|m| m.change == Change::Same && m.ratio.ratio == 1.0)
    );
}

#[test]
fn comparison_flags_changes_and_warns() {
    let comparison = compare(&sample::run(), &later());
    let options = Options::default();
    let text = render_comparison(&comparison, Format::Term, &options).unwrap();
    insta::assert_snapshot!("comparison_term", text);
    let text = render_comparison(&comparison, Format::Md, &options).unwrap();
    assert!(text.contains("| higher |"));
    let text = render_comparison(&comparison, Format::Json, &options).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let cell = &value["experiments"][0]["cells"][1]["metrics"];
    assert_eq!(cell["size_bytes"]["change"], "higher");
    assert_eq!(cell["size_vacuumed_bytes"]["change"], "same");
    let page = render_comparison(&comparison, Format::Html, &options).unwrap();
    assert!(page.contains("<tr class=\"higher\">") && page.contains("default-src 'none'"));
    assert!(matches!(
        render_comparison(&comparison, Format::Csv, &options),
        Err(Error::NoComparison { format: "csv" })
    ));
}

#[test]
fn every_unit_of_a_probe_has_a_form() {
    for probe in PROBES {
        let text = format::quantity(1.5, probe.unit);
        assert!(
            text.starts_with("1.5") || text.starts_with("150%"),
            "{text}"
        );
    }
}

#[test]
fn every_report_with_claims_names_and_links_their_posts() {
    for format in [Format::Term, Format::Html, Format::Md, Format::Json] {
        let text = report(format, true, 100).replace("&#x2f;", "/");
        for claim in sample::CLAIMS {
            for fact in [claim.post.author, claim.post.title, claim.post.url] {
                // A terminal breaks lines at spaces.
                let is_there = text.contains(fact)
                    || text
                        .split_whitespace()
                        .collect::<Vec<_>>()
                        .join(" ")
                        .contains(fact);
                assert!(is_there, "{}: {fact}", format.name());
            }
        }
    }
}
