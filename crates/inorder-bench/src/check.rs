//! Checks the names in an experiment that belong to other lists: claims and metrics.

use crate::{
    claims::CLAIMS,
    error::{Error, nearest},
    experiment::{
        Experiment,
        template::{self, Part},
    },
    metrics,
};

/// Checks that an experiment names claims and metrics that exist.
///
/// # Errors
/// [`Error::Experiment`] with the line and the nearest right name.
pub fn check(experiment: &Experiment) -> Result<(), Error> {
    let claims = || CLAIMS.iter().map(|claim| claim.id);
    for id in &experiment.claims {
        if !claims().any(|known| known == id) {
            let message = format!("unknown claim `{id}`: {}", nearest(id, claims()));
            return Err(experiment.error_at(&format!("\"{id}\""), message));
        }
    }
    let parts =
        template::parse(&experiment.answer).map_err(|why| experiment.error_at("answer", why))?;
    for part in parts {
        let Part::Number(place) = part else { continue };
        if let Err(why) = metrics::asked_for(&place) {
            let words = match place.metric.as_str() {
                "" => "answer",
                metric => metric,
            };
            return Err(experiment.error_at(words, why));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Overrides, Scale};

    fn error(line: &str) -> String {
        let text = format!("title = \"t\"\nquestion = \"q\"\nexpect = \"e\"\n{line}\n");
        let experiment =
            Experiment::parse("x.toml", &text, Scale::Quick, &Overrides::default()).unwrap();
        check(&experiment).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_claim_names_the_line_and_the_nearest_one() {
        let error = error("claims = [\"W1\", \"W77\"]");
        assert!(
            error.starts_with("x.toml:4: unknown claim `W77`: did you mean `W7`?"),
            "{error}"
        );
    }

    #[test]
    fn an_unknown_metric_names_the_line_and_the_nearest_one() {
        let error = error("answer = \"é {value cpu_us_a_row key=uuid4}\"");
        let wanted = "x.toml:4: at character 3: unknown metric `cpu_us_a_row`: did you mean `cpu_us_per_row`?";
        assert!(error.starts_with(wanted), "{error}");
    }
}
