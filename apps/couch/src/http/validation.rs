//! `validate_doc_update`: the functions of design documents that every edit is shown to before it is written.
//!
//! They are called before an edit is handed to the database's writing thread, which never waits for a function. It writes
//! only what is still as it was when the functions saw it, and gives back the rest, to be shown to them again.

use super::blocking::blocking;
use super::functions::{Functions, owner};
use super::rights::NO_ADMIN;
use super::{HttpError, HttpResult, Server, design_rules, replications, users_db};
use crate::auth::{Security, User};
use crate::revision::Revision;
use crate::script::{Purpose, ScriptError, Verdict};
use crate::store::{
    Consent, Database, Document, Draft, Edit, Mode, Outcome, Progress, Proposal, Refusal,
};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Documents, and bytes of them, that are shown to functions at once.
const DRAFTS_MAX: usize = 1000;
const PROPOSED_BYTES_MAX: usize = 4 << 20;

/// Reading more documents than that would keep other requests waiting.
const INLINE_DRAFTS_MAX: usize = 8;

/// An edit is shown again when its document has changed meanwhile; so often in a row is no coincidence.
const ROUNDS_MAX: u32 = 10;

/// Writes edits that the database's functions allow this user; what became of them is in the order they were given. If a function
/// was stopped, `stopped` is set, and later edits of the same request are refused.
///
/// # Errors
/// If the design documents can't be read, or the edits not written.
pub async fn write(
    server: &Server,
    user: &User,
    db: &Database,
    edits: Vec<Edit>,
    mode: Mode,
    stopped: &mut Option<Refusal>,
) -> HttpResult<Vec<Outcome>> {
    if let Some(refusal) = stopped {
        return Ok(edits.iter().map(|_| Err(refusal.clone())).collect());
    }
    let is_users = db.name() == server.auth.policy().users_database;
    let edits = match is_users {
        true => users_db::prepare(server, user, db, edits).await?,
        false => edits,
    };
    let replications = replications::Rules::of(server, user, db, mode);
    let mut writing = Writing {
        outcomes: edits.iter().map(|_| None).collect(),
        waiting: Vec::with_capacity(edits.len()),
        server,
        user,
        db,
        mode,
        is_users,
        security: db.security()?,
        stopped,
    };
    for (index, edit) in edits.into_iter().enumerate() {
        if let Some(refusal) = writing.refused_design(&edit) {
            writing.outcomes[index] = Some(Err(refusal));
            continue;
        }
        if let Err(refusal) = design_rules::check(&server.scripts, db, &edit).await {
            writing.outcomes[index] = Some(Err(refusal));
            continue;
        }
        let edit = match &replications {
            Some(rules) => rules.prepare(edit),
            None => Ok(edit),
        };
        match edit.and_then(|edit| db.draft(edit)) {
            Ok(draft) => writing.waiting.push(Waiting {
                index,
                rounds: 0,
                draft,
            }),
            Err(refusal) => writing.outcomes[index] = Some(Err(refusal)),
        }
    }
    while !writing.waiting.is_empty() {
        writing.round().await?;
    }
    Ok(writing.outcomes.into_iter().flatten().collect())
}

/// Edits on their way.
struct Writing<'a> {
    server: &'a Server,
    user: &'a User,
    db: &'a Database,
    mode: Mode,
    /// Whether it is the database of users, which has rules of its own.
    is_users: bool,
    security: Arc<Security>,
    outcomes: Vec<Option<Outcome>>,
    waiting: Vec<Waiting>,
    /// Why nothing more is to be tried.
    stopped: &'a mut Option<Refusal>,
}

/// An edit that is not written yet.
struct Waiting {
    index: usize,
    rounds: u32,
    draft: Draft,
}

impl Writing<'_> {
    /// Design documents are written by admins of the database.
    fn refused_design(&self, edit: &Edit) -> Option<Refusal> {
        let is_design = edit
            .id
            .as_deref()
            .is_some_and(|id| id.starts_with("_design/"));
        if !is_design || self.security.is_admin(self.user) {
            return None;
        }
        Some(match self.user.name() {
            None => Refusal::Unauthorized(NO_ADMIN.to_owned()),
            Some(_) => Refusal::Forbidden(NO_ADMIN.to_owned()),
        })
    }

    /// Shows some edits to the functions, and writes what they allow.
    async fn round(&mut self) -> HttpResult<()> {
        let functions = self.server.validations.functions(self.db)?;
        let has_none = functions.to_run(self.is_users).next().is_none();
        let round = match has_none && !self.is_users {
            true => {
                let mut all = std::mem::take(&mut self.waiting);
                for waiting in &mut all {
                    waiting.draft.consent = Consent::Given {
                        design_seq: functions.design_seq,
                        basis: None,
                    };
                }
                all
            }
            false => self.shown(&functions).await?,
        };
        let (places, drafts): (Vec<_>, Vec<_>) = round
            .into_iter()
            .map(|waiting| ((waiting.index, waiting.rounds), waiting.draft))
            .unzip();
        if drafts.is_empty() {
            return Ok(());
        }
        let written = self.db.write_drafts(drafts, self.mode).await?;
        for ((index, rounds), progress) in places.into_iter().zip(written) {
            match progress {
                Progress::Done(outcome) => self.outcomes[index] = Some(outcome),
                Progress::Stale(_) if rounds >= ROUNDS_MAX => {
                    let reason = "The document was changed again and again meanwhile; try again.";
                    self.outcomes[index] = Some(Err(Refusal::Busy(reason.to_owned())));
                }
                Progress::Stale(draft) => self.waiting.push(Waiting {
                    index,
                    rounds: rounds + 1,
                    draft,
                }),
            }
        }
        Ok(())
    }

    /// Takes some of the edits and keeps those that the functions allow.
    async fn shown(&mut self, functions: &Functions) -> HttpResult<Vec<Waiting>> {
        let (places, mut drafts) = self.take_some();
        let (db, mode) = (self.db.clone(), self.mode);
        let propose = move || {
            let proposals = db.propose(&drafts, mode, PROPOSED_BYTES_MAX)?;
            let left = drafts.split_off(proposals.len());
            Ok::<_, HttpError>((drafts, left, proposals))
        };
        let (drafts, left, proposals) = match places.len() > INLINE_DRAFTS_MAX {
            true => blocking(propose).await??,
            false => propose()?,
        };
        let mut places = places.into_iter();
        let mut asked = Vec::with_capacity(drafts.len());
        for (mut draft, proposal) in drafts.into_iter().zip(&proposals) {
            draft.consent = proposal.as_ref().map_or(Consent::Missing, |proposal| {
                let basis = Some(proposal.basis.clone());
                Consent::Given {
                    design_seq: functions.design_seq,
                    basis,
                }
            });
            let (index, rounds) = places.next().unwrap_or_default();
            asked.push(Waiting {
                index,
                rounds,
                draft,
            });
        }
        for ((index, rounds), draft) in places.zip(left) {
            self.waiting.push(Waiting {
                index,
                rounds,
                draft,
            });
        }
        let refusals = self.refusals(functions, &proposals).await?;
        let mut allowed = Vec::with_capacity(asked.len());
        for (waiting, refusal) in asked.into_iter().zip(refusals.list) {
            match refusal {
                Some(refusal) => self.outcomes[waiting.index] = Some(Err(refusal)),
                None => allowed.push(waiting),
            }
        }
        if let Some(fatal) = refusals.fatal {
            // A function that was stopped is not tried with the next of many documents.
            for waiting in std::mem::take(&mut self.waiting) {
                self.outcomes[waiting.index] = Some(Err(fatal.clone()));
            }
            *self.stopped = Some(fatal);
        }
        Ok(allowed)
    }

    /// Takes waiting edits that do not depend on each other's result: the first of each document, and of replicated ones those that
    /// do not follow from another.
    fn take_some(&mut self) -> (Vec<(usize, u32)>, Vec<Draft>) {
        let mut taken = Taken::new(self.mode);
        let (mut places, mut drafts, mut left) = (Vec::new(), Vec::new(), Vec::new());
        self.waiting.sort_by_key(|waiting| waiting.index);
        for waiting in std::mem::take(&mut self.waiting) {
            if drafts.len() < DRAFTS_MAX && taken.takes(&waiting.draft) {
                places.push((waiting.index, waiting.rounds));
                drafts.push(waiting.draft);
            } else {
                left.push(waiting);
            }
        }
        self.waiting = left;
        (places, drafts)
    }

    /// The refusals of the rules of the database of users. In another database than `_users` they hold once it has the design
    /// document `_auth`.
    fn refused_users(
        &self,
        functions: &Functions,
        proposals: &[Option<Proposal>],
    ) -> Vec<Option<Refusal>> {
        let is_ruled =
            self.is_users && (self.db.name() == users_db::USERS || functions.auth.is_some());
        let refused = |proposal: &Option<Proposal>| {
            let Proposal {
                new, old, rival, ..
            } = proposal.as_ref().filter(|_| is_ruled)?;
            // Whoever could make a conflict could lock the account.
            let old = old.as_ref().or(rival.as_ref());
            let judged = users_db::validate(new, old, self.user, &self.security);
            judged.err().map(Refusal::Forbidden)
        };
        proposals.iter().map(refused).collect()
    }

    /// Runs all functions on proposals, one function after the other.
    async fn refusals(
        &self,
        functions: &Functions,
        proposals: &[Option<Proposal>],
    ) -> HttpResult<Refusals> {
        let mut refusals = Refusals {
            list: self.refused_users(functions, proposals),
            fatal: None,
        };
        if functions.to_run(self.is_users).next().is_none() {
            return Ok(refusals);
        }
        let shown: Vec<_> = proposals
            .iter()
            .enumerate()
            .filter_map(|(at, proposal)| Some((at, proposal.as_ref()?)))
            .map(|(at, Proposal { new, old, .. })| {
                let old = old.as_ref().map(Document::to_json);
                (at, new.to_json(), old.unwrap_or_else(|| "null".to_owned()))
            })
            .collect();
        if shown.is_empty() {
            return Ok(refusals);
        }
        let (db, user) = (self.db, self.user);
        let security = self.security.to_string();
        let user = json!({ "db": db.name(), "name": user.name(), "roles": user.roles() });
        let user = user.to_string();
        let owner = owner(db, Purpose::Write);
        for function in functions.to_run(self.is_users) {
            let (places, updates): (Vec<usize>, Vec<[&str; 2]>) = shown
                .iter()
                .filter(|(at, ..)| refusals.list[*at].is_none())
                .map(|(at, new, old)| (*at, [new.as_str(), old.as_str()]))
                .unzip();
            if places.is_empty() {
                break;
            }
            let scripts = &self.server.scripts;
            let verdicts = scripts
                .validate(&owner, function, &user, &security, updates.as_flattened())
                .await;
            let mut fatal = None;
            for (at, verdict) in places.iter().zip(&verdicts) {
                refusals.list[*at] = refusal(verdict);
            }
            if verdicts.len() < places.len()
                || matches!(
                    verdicts.last(),
                    Some(Err(ScriptError::Timeout(_) | ScriptError::Busy))
                )
            {
                fatal = verdicts.last().and_then(refusal);
            }
            if fatal.is_some() {
                for at in places.iter().skip(verdicts.len()) {
                    refusals.list[*at].clone_from(&fatal);
                }
                refusals.fatal = fatal;
            }
        }
        Ok(refusals)
    }
}

/// The edits that are shown to functions together.
struct Taken {
    mode: Mode,
    documents: HashMap<String, TakenRevisions>,
}

/// The replicated revisions of a document.
#[derive(Default)]
struct TakenRevisions {
    newest: HashSet<Revision>,
    ancestors: HashSet<Revision>,
}

impl Taken {
    fn new(mode: Mode) -> Self {
        Taken {
            mode,
            documents: HashMap::new(),
        }
    }

    /// Takes an edit unless it depends on another, or another on it.
    fn takes(&mut self, draft: &Draft) -> bool {
        let is_first = !self.documents.contains_key(draft.id());
        let taken = self.documents.entry(draft.id().to_owned()).or_default();
        let Some(history) = draft.history().filter(|_| self.mode == Mode::Replicated) else {
            return is_first;
        };
        let is_taken = |revision| taken.newest.contains(&revision);
        let newest = history.revision();
        if taken.ancestors.contains(&newest) || history.revisions().any(is_taken) {
            return false;
        }
        taken.newest.insert(newest);
        taken.ancestors.extend(history.revisions().skip(1));
        true
    }
}

/// The verdicts of the functions about proposals.
struct Refusals {
    /// In the order of the proposals.
    list: Vec<Option<Refusal>>,
    /// Why nothing more is to be tried.
    fatal: Option<Refusal>,
}

fn refusal(verdict: &Result<Verdict, ScriptError>) -> Option<Refusal> {
    match verdict {
        Ok(Verdict::Fine) => None,
        Ok(Verdict::Forbidden(reason)) => Some(Refusal::Forbidden(reason.clone())),
        Ok(Verdict::Unauthorized(reason)) => Some(Refusal::Unauthorized(reason.clone())),
        Err(error @ ScriptError::Busy) => Some(Refusal::Busy(error.to_string())),
        Err(ScriptError::Thrown { name, reason }) => Some(Refusal::Thrown {
            name: name.clone(),
            reason: reason.clone(),
        }),
        Err(error @ ScriptError::Compile(_)) => Some(Refusal::Failed(error.to_string())),
        Err(error) => Some(Refusal::Stopped(error.to_string())),
    }
}
