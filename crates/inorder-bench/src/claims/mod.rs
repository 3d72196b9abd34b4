//! The published claims, and the functions that judge a run by them.

mod claim;
mod deviation;
mod disk_io;
mod documents;
mod evidence;
#[cfg(test)]
mod fixture;
mod post;
mod presort;
pub mod published;
mod watchlist;

pub use claim::{Claim, Judgement, On, Part, Verdict};
pub use evidence::TIME_REPETITIONS_MIN;
pub use post::Post;

use std::sync::LazyLock;

/// Every claim, post by post. A post is a file and a line here.
pub static CLAIMS: LazyLock<Vec<Claim>> = LazyLock::new(|| {
    [
        watchlist::CLAIMS,
        documents::CLAIMS,
        disk_io::CLAIMS,
        presort::CLAIMS,
    ]
    .into_iter()
    .flatten()
    .copied()
    .collect()
});

/// Every post, in the order of its claims.
pub const POSTS: &[&Post] = &[
    &watchlist::POST,
    &documents::POST,
    &disk_io::POST,
    &presort::POST,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_is_one_of_its_post() {
        for claim in CLAIMS.iter() {
            let post = POSTS.iter().find(|post| post.letter == &claim.id[..1]);
            assert_eq!(post, Some(&claim.post), "{}", claim.id);
            assert!(!claim.figure.is_empty(), "{}", claim.id);
        }
        for post in POSTS {
            assert!(CLAIMS.iter().any(|claim| claim.post == *post), "{post}");
            assert!(post.url.starts_with("https://"), "{post}");
            assert!(!post.author.is_empty() && !post.title.is_empty(), "{post}");
        }
    }

    #[test]
    fn a_missing_verdict_names_the_repetitions_that_a_budget_left_out() {
        use crate::{
            claims::fixture::{finish, planned, repeated, sample},
            experiment::Scale,
            results::{Cell, Run, Sample, Status},
        };
        let mut run = planned("watchlist", Scale::Quick, repeated(5)).unwrap();
        let size = |cell: &Cell, repetition: u32| {
            let bytes = 1e6 * cell.id as f64 + f64::from(repetition);
            sample("size_bytes", 20_000, bytes)
        };
        finish(&mut run, |cell, trial| -> Vec<Sample> {
            vec![
                size(cell, trial.repetition),
                sample("cpu_s", 20_000, cell.id as f64),
                sample("rows_stored", 20_000, 20_000.0),
            ]
        });
        let whole = run.clone();
        let w2 = CLAIMS.iter().find(|claim| claim.id == "W2").unwrap();
        let verdict = |run: &Run| w2.judgement(run).verdict;
        for left in [1, 2] {
            for trial in run.trials.iter_mut().filter(|t| t.repetition >= left) {
                *trial = trial.again();
            }
            run.meta.budget_s = Some(60);
            assert!(run.trials.iter().any(|t| t.status == Status::Planned));
            let reason = format!(
                "{left} of 5 repetitions run: `inorder bench watchlist --repetitions 5` completes it"
            );
            let mut open = 0;
            for claim in CLAIMS.iter().filter(|claim| claim.post.name == "watchlist") {
                let judged = claim.judgement(&run);
                if judged.verdict == Verdict::Inconclusive {
                    assert_eq!(judged.reason, reason, "{}", claim.id);
                    open += 1;
                }
            }
            assert!(open > 0);
            // Sizes need two repetitions, and then say what all of them say.
            let wanted = match left {
                1 => Verdict::Inconclusive,
                _ => verdict(&whole),
            };
            assert_eq!(verdict(&run), wanted);
            assert_ne!(verdict(&whole), Verdict::Inconclusive);
            run.clone_from(&whole);
        }
    }
}
