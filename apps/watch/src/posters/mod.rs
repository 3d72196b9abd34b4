//! Fetches posters and synopses from TMDB into the database, if the owner gives a key. Browsers ask only this server.

mod queue;
mod tmdb;

use crate::{
    Result,
    date::now_ms,
    db::{
        Database,
        posters::{self, Among, Found},
    },
};
use std::{sync::Arc, time::Duration};
use tokio::time;
use tokio_util::sync::CancellationToken;

pub use queue::Wanted;
pub use tmdb::{Refusal, TMDB_API, TMDB_IMAGES, Tmdb, TmdbConfig};

/// The time between two looks at the lists. Films that somebody looks at are asked for at once.
const PAUSE: Duration = Duration::from_secs(5 * 60);

/// The time between two films. TMDB allows some 40 requests per second, and a film takes four.
const FILM_PAUSE: Duration = Duration::from_millis(250);

/// The films of one look at the lists.
const FILMS_MAX: usize = 20;

/// The films one after another without an answer after which nobody is asked for a while.
const FAILURES_MAX: usize = 3;

/// The pauses after an error: the least, which doubles, and the most.
const ERROR_PAUSE_MIN: Duration = Duration::from_secs(30);
const ERROR_PAUSE_MAX: Duration = Duration::from_secs(60 * 60);

/// Fetches what is missing.
pub struct Fetcher {
    db: Database,
    tmdb: Tmdb,
    wanted: Arc<Wanted>,
}

impl Fetcher {
    /// Creates a fetcher.
    ///
    /// # Errors
    /// A text that says which setting is wrong.
    pub fn new(db: &Database, config: TmdbConfig, wanted: Arc<Wanted>) -> Result<Self, String> {
        Ok(Fetcher {
            db: db.clone(),
            tmdb: Tmdb::new(config)?,
            wanted,
        })
    }

    /// Fetches until the server stops.
    pub async fn run(self, stop: CancellationToken) {
        let work = self.work();
        tokio::select! {
            () = stop.cancelled() => {}
            () = work => {}
        }
    }

    async fn work(&self) {
        let mut error_pause = ERROR_PAUSE_MIN;
        let mut among = Among::Lists;
        loop {
            match self.round(&among, now_ms()).await {
                // There may be more.
                Ok(FILMS_MAX) => {}
                Ok(_) => {
                    self.wanted.remove(&among);
                    error_pause = ERROR_PAUSE_MIN;
                    among = tokio::select! {
                        these = self.wanted.next() => Among::These(these),
                        () = time::sleep(PAUSE) => Among::Lists,
                    };
                }
                Err(refusal) => {
                    tracing::warn!("posters: {refusal}");
                    time::sleep(match refusal {
                        Refusal::Key(_) => ERROR_PAUSE_MAX,
                        Refusal::Wait(pause) => pause.clamp(FILM_PAUSE, ERROR_PAUSE_MAX),
                        Refusal::Failed(_) | Refusal::Odd(_) => error_pause,
                    })
                    .await;
                    error_pause = (error_pause * 2).min(ERROR_PAUSE_MAX);
                }
            }
        }
    }

    /// Asks for some of the films that are due. Returns how many there were.
    ///
    /// An answer that is not understood counts as that of a film without a poster. Where one film gets no answer, the
    /// others are asked for.
    ///
    /// # Errors
    /// [`Refusal`], also for an error of the database. The films that are left are asked for in the next round.
    pub async fn round(&self, among: &Among, now_ms: i64) -> Result<usize, Refusal> {
        let failed = |error: crate::Error| Refusal::Failed(error.to_string());
        let among = among.clone();
        let due = self
            .db
            .read_long(move |db| posters::due(db, &among, now_ms, FILMS_MAX));
        let films = due.await.map_err(failed)?;
        let mut failures = 0;
        let count = films.len();
        for (at, film) in films.into_iter().enumerate() {
            if at > 0 {
                time::sleep(FILM_PAUSE).await;
            }
            let found = match self.tmdb.find(&film).await {
                Ok(found) => found,
                Err(refusal @ Refusal::Odd(_)) => {
                    tracing::warn!("the poster of {}: {refusal}", film.facts.title);
                    Found::default()
                }
                Err(Refusal::Failed(_)) if failures + 1 < FAILURES_MAX.min(count) => {
                    failures += 1;
                    continue;
                }
                Err(refusal) => return Err(refusal),
            };
            failures = 0;
            let kept = self
                .db
                .write(move |db| posters::keep(db, &film, now_ms, &found));
            kept.await.map_err(failed)?;
        }
        Ok(count)
    }
}

/// The type of a picture by its first bytes; `None` if it is no picture that browsers show.
#[must_use]
pub fn content_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}
