//! The verdicts of several runs side by side, such as runs with different seeds: whether one changes from "holds" to
//! "does not hold".

use super::{
    json, markdown,
    output::{Error, Format},
};
use crate::{
    claims::{CLAIMS, Judgement, POSTS, Part, Post, Verdict},
    results::Run,
};
use serde_json::{Map, Value, json};

/// A claim in every run.
#[derive(Clone, Debug)]
pub struct Row {
    /// The claim.
    pub id: &'static str,
    /// The judgement of each run, in the order of the runs.
    pub judgements: Vec<Judgement>,
}

impl Row {
    /// Returns the parts that turned: the claim, or its parts, that hold in one run and do not in another.
    pub fn turned(&self) -> Vec<&'static str> {
        let of_claim = self.judgements.iter().map(|j| ("claim", j.verdict));
        let of_parts = self.judgements.iter().flat_map(|j| &j.parts);
        let all: Vec<(&'static str, Verdict)> = of_claim
            .chain(of_parts.map(|part| (part.name, part.verdict)))
            .collect();
        let has = |name, verdict| all.contains(&(name, verdict));
        let mut turned: Vec<&'static str> = Vec::new();
        for (name, _) in &all {
            let is_turned = has(name, Verdict::Holds) && has(name, Verdict::DoesNot);
            if is_turned && !turned.contains(name) {
                turned.push(name);
            }
        }
        turned
    }
}

/// The claims that any of the runs answers.
pub fn rows(runs: &[Run]) -> Vec<Row> {
    let row = |claim: &crate::claims::Claim| Row {
        id: claim.id,
        judgements: runs.iter().map(|run| claim.judgement(run)).collect(),
    };
    let answered = |row: &Row| {
        let mut judgements = row.judgements.iter();
        judgements.any(|judgement| judgement.verdict != Verdict::NotRun)
    };
    CLAIMS.iter().map(row).filter(answered).collect()
}

/// Writes the table down.
///
/// # Errors
/// If the format is neither `md` nor `json`.
pub fn render(runs: &[Run], rows: &[Row], format: Format) -> Result<String, Error> {
    match format {
        Format::Md => Ok(as_markdown(runs, rows)),
        Format::Json => as_json(runs, rows),
        other => Err(Error::NoComparison {
            format: other.name(),
        }),
    }
}

fn as_markdown(runs: &[Run], rows: &[Row]) -> String {
    let seeds = runs.iter().map(|run| format!("seed {}", run.meta.seed));
    let headings: Vec<String> = std::iter::once("claim".to_owned())
        .chain(seeds)
        .chain(["turned around".to_owned()])
        .collect();
    let cells = |row: &Row| -> Vec<String> {
        let verdicts = row.judgements.iter().map(Judgement::verdict_text);
        std::iter::once(row.id.to_owned())
            .chain(verdicts)
            .chain([row.turned().join(", ")])
            .collect()
    };
    let posts = posts_of(rows);
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    markdown::table(&headings, &rows, headings.len()) + &markdown::sources(&posts)
}

/// The posts that published these claims.
fn posts_of(rows: &[Row]) -> Vec<&'static Post> {
    let is_of = |post: &Post, row: &Row| row.id.starts_with(post.letter);
    let mut posts = POSTS.to_vec();
    posts.retain(|post| rows.iter().any(|row| is_of(post, row)));
    posts
}

fn as_json(runs: &[Run], rows: &[Row]) -> Result<String, Error> {
    let part = |part: &Part| json!({ "name": part.name, "verdict": part.verdict.name() });
    let parts = |judgement: &Judgement| judgement.parts.iter().map(part).collect::<Vec<_>>();
    let claim = |row: &Row| {
        let verdicts = row.judgements.iter().map(|j| j.verdict.name());
        json!({
            "id": row.id,
            "verdicts": verdicts.collect::<Vec<_>>(),
            // Of each run those that the claim has, none where it says one thing.
            "parts": row.judgements.iter().map(parts).collect::<Vec<_>>(),
            "turned": row.turned(),
        })
    };
    let claims: Vec<_> = rows.iter().map(claim).collect();
    let seeds: Vec<u64> = runs.iter().map(|run| run.meta.seed).collect();
    let sources: Map<String, Value> = posts_of(rows)
        .into_iter()
        .map(|post| (post.letter.to_owned(), json::source(post)))
        .collect();
    let all = json!({
        "format": "inorder-verdicts",
        "format_version": 1,
        "seeds": seeds,
        "claims": claims,
        "sources": sources,
    });
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgement(verdict: Verdict, part: Verdict) -> Judgement {
        Judgement {
            verdict,
            seen: String::new(),
            ratio: None,
            published: None,
            reason: String::new(),
            parts: vec![Part {
                name: "size",
                verdict: part,
                ratio: None,
                reason: String::new(),
            }],
        }
    }

    #[test]
    fn only_holds_against_does_not_is_turned_around() {
        use Verdict::{DoesNot, Holds, Inconclusive};
        let turned = |judgements: Vec<Judgement>| {
            let row = Row {
                id: "X1",
                judgements,
            };
            row.turned()
        };
        let runs = vec![judgement(Holds, Holds), judgement(Inconclusive, DoesNot)];
        assert_eq!(turned(runs), ["size"]);
        let runs = vec![
            judgement(Holds, Holds),
            judgement(Inconclusive, Inconclusive),
        ];
        assert_eq!(turned(runs), [""; 0]);
        let runs = vec![judgement(Holds, Holds), judgement(DoesNot, Holds)];
        assert_eq!(turned(runs), ["claim"]);
    }

    #[test]
    fn json_has_the_parts_of_each_run() {
        use Verdict::{DoesNot, Holds, Inconclusive};
        let row = Row {
            id: "X1",
            judgements: vec![judgement(Holds, Holds), judgement(Inconclusive, DoesNot)],
        };
        let runs = [Run::default(), Run::default()];
        let text = render(&runs, &[row], Format::Json).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let size = |verdict: &str| json!([{ "name": "size", "verdict": verdict }]);
        let claim = json!({
            "id": "X1",
            "verdicts": ["holds", "inconclusive"],
            "parts": [size("holds"), size("does not hold")],
            "turned": ["size"],
        });
        assert_eq!(value["claims"], json!([claim]));
    }
}
