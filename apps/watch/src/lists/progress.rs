//! How far a file says that a series was watched.

use crate::db::films::Facts;
use std::collections::{BTreeMap, BTreeSet};

/// What a file says of the seasons of a series. Nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of seasons that were watched, the first ones.
    seasons: Option<u32>,
    /// The episodes that were watched, by season. Specials have no season.
    episodes: BTreeMap<u32, BTreeSet<u32>>,
    /// Whether these are all seasons that there are.
    is_whole: bool,
    /// The last episode that was watched, with its season; those before were watched too.
    until: Option<(u32, u32)>,
    /// The number of episodes that there were.
    aired: Option<usize>,
}

impl Progress {
    /// So many seasons, the first ones.
    pub fn of_seasons(seasons: u32) -> Self {
        Progress {
            seasons: Some(seasons),
            ..Progress::default()
        }
    }

    /// All seasons, so many.
    pub fn of_all_seasons(seasons: u32) -> Self {
        Progress {
            is_whole: true,
            ..Progress::of_seasons(seasons)
        }
    }

    /// All up to an episode of a season.
    pub fn until(season: u32, episode: u32) -> Self {
        Progress {
            until: Some((season, episode)),
            ..Progress::of_seasons(season.saturating_sub(1))
        }
    }

    /// Says whether all of it was watched.
    pub fn set_whole(&mut self, is_whole: bool) {
        self.is_whole |= is_whole;
    }

    /// Adds an episode. Specials, which have season 0, count for none.
    pub fn add_episode(&mut self, season: u32, episode: u32) {
        if season > 0 {
            self.episodes.entry(season).or_default().insert(episode);
        }
    }

    /// Says how many episodes there were.
    pub fn set_aired(&mut self, aired: Option<usize>) {
        self.aired = aired.filter(|aired| *aired > 0);
    }

    /// Adds what another part of the file says.
    pub fn add(&mut self, other: Progress) {
        self.seasons = self.seasons.max(other.seasons);
        self.is_whole |= other.is_whole;
        self.aired = self.aired.max(other.aired);
        self.until = self.until.max(other.until);
        for (season, episodes) in other.episodes {
            self.episodes.entry(season).or_default().extend(episodes);
        }
    }

    /// Whether all of a series was watched, and how many seasons, the first ones; `None` if nothing is said. A season was watched
    /// if all of its episodes were. Where their number isn't known, it was watched if a later one was begun.
    pub fn seasons(&self, facts: &Facts) -> Option<(bool, u32)> {
        if self.episodes.is_empty() {
            let mut seasons = self.seasons?;
            let all = facts.seasons.len();
            if let Some((season, episode)) = self.until {
                let episodes = facts.seasons.get((season as usize).saturating_sub(1));
                let is_ended =
                    episodes.is_some_and(|episodes| *episodes > 0 && episode >= *episodes);
                seasons = seasons.max(season - u32::from(!is_ended && season > 0));
            }
            let is_whole = self.is_whole || (all > 0 && seasons as usize >= all);
            return Some((is_whole, seasons));
        }
        let count: usize = self.episodes.values().map(BTreeSet::len).sum();
        let last = *self.episodes.keys().next_back()?;
        if self.is_whole || self.aired.is_some_and(|aired| count >= aired) {
            return Some((true, last.max(self.seasons.unwrap_or_default())));
        }
        let is_whole = |season: u32| {
            let watched = self.episodes.get(&season).map_or(0, BTreeSet::len);
            match facts.seasons.get(season as usize - 1) {
                Some(episodes) if *episodes > 0 => watched >= *episodes as usize,
                _ => watched > 0 && season < last,
            }
        };
        let seasons = (1..=last).take_while(|season| is_whole(*season)).count();
        let seasons = u32::try_from(seasons).unwrap_or(u32::MAX);
        let seasons = seasons.max(self.seasons.unwrap_or_default());
        let all = facts.seasons.len();
        Some((all > 0 && seasons as usize >= all, seasons))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(episodes: &[(u32, u32)]) -> Progress {
        let mut progress = Progress::default();
        for (season, count) in episodes {
            for episode in 1..=*count {
                progress.add_episode(*season, episode);
            }
        }
        progress
    }

    fn series(seasons: &[u32]) -> Facts {
        Facts {
            seasons: seasons.to_vec(),
            ..Facts::default()
        }
    }

    #[test]
    fn a_season_was_watched_if_all_its_episodes_were() {
        let dark = series(&[10, 8, 8]);
        for (episodes, expected) in [
            (&[(1, 10)][..], (false, 1)),
            (&[(1, 9)], (false, 0)),
            (&[(0, 3), (1, 10), (2, 8), (3, 7)], (false, 2)),
            (&[(1, 10), (2, 8), (3, 8)], (true, 3)),
            (&[(1, 9), (2, 8), (3, 8)], (false, 0)),
        ] {
            let said = progress(episodes).seasons(&dark);
            assert_eq!(said, Some(expected), "{episodes:?}");
        }
        assert_eq!(progress(&[(0, 3)]).seasons(&dark), None);
    }

    #[test]
    fn the_last_episode_tells_the_seasons_before_it() {
        let dark = series(&[10, 8, 8]);
        for ((season, episode), expected) in [
            ((1, 1), (false, 0)),
            ((2, 7), (false, 1)),
            ((2, 8), (false, 2)),
            ((3, 8), (true, 3)),
            ((0, 3), (false, 0)),
        ] {
            let said = Progress::until(season, episode).seasons(&dark);
            assert_eq!(said, Some(expected), "{season} {episode}");
        }
        assert_eq!(
            Progress::until(3, 1).seasons(&series(&[])),
            Some((false, 2))
        );
    }

    #[test]
    fn a_season_of_unknown_length_was_watched_if_a_later_one_was_begun() {
        let unknown = series(&[]);
        assert_eq!(
            progress(&[(1, 3), (2, 1)]).seasons(&unknown),
            Some((false, 1))
        );
        assert_eq!(progress(&[(1, 5)]).seasons(&unknown), Some((false, 0)));
        let mut whole = progress(&[(1, 5)]);
        whole.set_aired(Some(5));
        assert_eq!(whole.seasons(&unknown), Some((true, 1)));
        whole.set_aired(Some(0));
        assert_eq!(whole.seasons(&unknown), Some((false, 0)));
        assert_eq!(Progress::of_seasons(2).seasons(&unknown), Some((false, 2)));
        assert_eq!(
            Progress::of_all_seasons(3).seasons(&unknown),
            Some((true, 3))
        );
        assert_eq!(
            Progress::of_seasons(2).seasons(&series(&[0, 0])),
            Some((true, 2))
        );
    }
}
