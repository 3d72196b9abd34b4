//! The decision: the strongest evidence first.

use super::{Contained, IdClass, IdFacts, IdRole, Made, Vocabulary, names::Saying};

pub(super) fn decide(facts: &IdFacts<'_>, vocabulary: &Vocabulary) -> IdClass {
    let says = vocabulary.says(facts.table, facts.column);
    let is = |role, evidence: String| IdClass {
        role,
        evidence: vec![evidence],
        or: Vec::new(),
    };
    if let Some(role) = facts.settled {
        return is(role, super::FILE.into());
    }
    if let Some(parent) = &facts.refers_to {
        return is(IdRole::Reference, format!("foreign key to {parent}"));
    }
    if let Some(class) = by_values(facts, &says) {
        return class;
    }
    if let Some((role @ (IdRole::Secret | IdRole::Digest), word)) = &says.role {
        return is(*role, format!("its name: {word}"));
    }
    if let Some(digest) = &facts.digest {
        return match &says.secretive {
            Some(word) => is(IdRole::Secret, format!("its name: {word}")),
            None => is(IdRole::Digest, digest.clone()),
        };
    }
    if let Some((role, word)) = &says.role {
        return is(*role, format!("its name: {word}"));
    }
    if let Some((rows, values)) = facts.repeats.filter(|_| !is_whole_key(facts)) {
        return is(
            IdRole::Reference,
            format!("{rows} rows have {values} values"),
        );
    }
    let class = made_here(facts, &says);
    match facts.is_number {
        true => IdClass {
            or: Vec::new(),
            ..class
        },
        false => class,
    }
}

fn is_whole_key(facts: &IdFacts<'_>) -> bool {
    facts.is_primary || facts.is_unique
}

/// What the values say that are in other keys too.
fn by_values(facts: &IdFacts<'_>, says: &Saying) -> Option<IdClass> {
    let found = |or: Vec<IdRole>, evidence: Vec<String>| {
        Some(IdClass {
            role: IdRole::Reference,
            evidence,
            or,
        })
    };
    // The other one is the reference, where it is named after this table.
    let is_parent = |of: &&Contained| !(of.is_mutual && says.is_own && !of.is_own);
    let of = facts.contained.iter().find(is_parent)?;
    let evidence = facts
        .contained
        .iter()
        .filter(is_parent)
        .map(Contained::in_words)
        .collect();
    let is_own = says.is_own && (facts.is_primary || facts.begins_primary || facts.is_unique);
    // A registry of ids of many tables has them all; so has the table that another one extends.
    match is_own && (of.is_mutual || !of.is_own) {
        true => found(vec![IdRole::Key], evidence),
        false => found(Vec::new(), evidence),
    }
}

/// A key that is made here, unless something speaks against it.
fn made_here(facts: &IdFacts<'_>, says: &Saying) -> IdClass {
    let evidence = of_keys(facts);
    let is = |role, or: &[IdRole], why: Option<String>| IdClass {
        role,
        evidence: evidence.iter().cloned().chain(why).collect(),
        or: or.to_vec(),
    };
    if let Some(word) = &says.secretive {
        let or = [IdRole::Key, IdRole::Reference];
        return is(IdRole::Secret, &or, Some(format!("its name: {word}")));
    }
    if let Some(other) = &says.names {
        let why = match facts.is_number {
            true => format!("its name is that of {other}"),
            false => format!("its name is that of {other}, which has none of its values"),
        };
        return is(IdRole::Reference, &[IdRole::Key], Some(why));
    }
    let is_key = is_whole_key(facts) || facts.begins_primary || is_by_default(facts);
    if is_key && (says.is_own || facts.referenced_by > 0) {
        let of_secrets = Vocabulary::of_secrets(facts.table).filter(|_| facts.beside.is_none());
        return match of_secrets {
            Some(word) => {
                let why = format!("the table's name: {word}");
                is(IdRole::Secret, &[IdRole::Key], Some(why))
            }
            None => is(IdRole::Key, &[], None),
        };
    }
    if says.names_else {
        let why = "its name is that of something that is no table here";
        let or = [IdRole::Reference, IdRole::Key];
        return is(IdRole::External, &or, Some(why.into()));
    }
    if facts.is_primary {
        return is(IdRole::Key, &[], None);
    }
    let why = match is_key {
        true => "its name is not that of an id",
        false => "no key of its own",
    };
    let or = [IdRole::Key, IdRole::Secret];
    is(IdRole::Reference, &or, Some(why.into()))
}

fn is_by_default(facts: &IdFacts<'_>) -> bool {
    matches!(
        facts.made,
        Some(Made::Random(_) | Made::InOrder(_) | Made::Mixed(_))
    )
}

/// What the keys and the default say.
fn of_keys(facts: &IdFacts<'_>) -> Vec<String> {
    let mut evidence = Vec::new();
    let mut add = |is_so: bool, words: &str| evidence.extend(is_so.then(|| words.to_owned()));
    add(facts.is_primary, "primary key");
    add(facts.begins_primary, "begins the primary key");
    add(facts.is_unique && !facts.is_primary, "UNIQUE");
    if let Some(made) = facts.made.as_ref().filter(|_| is_by_default(facts)) {
        evidence.push(format!("the default makes it: {}", made.name()));
    }
    match facts.referenced_by {
        0 => {}
        1 => evidence.push("1 foreign key refers to it".into()),
        count => evidence.push(format!("{count} foreign keys refer to it")),
    }
    evidence
}
