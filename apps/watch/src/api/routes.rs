//! The list of routes: the router and the description are made of it.

use super::{films, friends, list, me, sync, tonight};
use crate::request::App;
use axum::{
    http::Method,
    routing::{MethodRouter, delete, get, post, put},
};

/// The prefix of every route.
pub const PREFIX: &str = "/api/v1";

/// A route.
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path below [`PREFIX`].
    pub path: &'static str,
    /// The description.
    pub what: &'static str,
    /// The query parameters: names with descriptions.
    pub query: &'static [(&'static str, &'static str)],
    /// The schema of the body it takes.
    pub takes: Option<&'static str>,
    /// Whether it takes a file with a list instead: CSV, JSON or a zip archive.
    pub takes_file: bool,
    /// The schema of what it gives; CSV without one.
    pub gives: Option<&'static str>,
    pub(super) handler: fn() -> MethodRouter<App>,
}

/// A route that takes and gives nothing yet.
const fn route(
    method: Method,
    path: &'static str,
    what: &'static str,
    handler: fn() -> MethodRouter<App>,
) -> Route {
    Route {
        method,
        path,
        what,
        query: &[],
        takes: None,
        takes_file: false,
        gives: None,
        handler,
    }
}

impl Route {
    const fn query(mut self, query: &'static [(&'static str, &'static str)]) -> Self {
        self.query = query;
        self
    }

    const fn takes(mut self, schema: &'static str) -> Self {
        self.takes = Some(schema);
        self
    }

    const fn takes_file(mut self) -> Self {
        self.takes_file = true;
        self
    }

    const fn gives(mut self, schema: &'static str) -> Self {
        self.gives = Some(schema);
        self
    }
}

const VIEW: &[(&str, &str)] = &[
    (
        "watched",
        "1: films that were watched, otherwise those to watch",
    ),
    ("genre", "only of this genre"),
    ("decade", "only of the ten years from this one on"),
    ("priority", "only of this priority, 1 to 5"),
    ("kind", "only film or series"),
    (
        "tag",
        "only with this tag; on a friend's list, if the friend shows it",
    ),
    ("sort", "priority, added, title or year"),
    ("page", "which page, from 1"),
];

/// All routes.
pub const ROUTES: &[Route] = &[
    route(Method::GET, "/me", "Whose token this is", || get(me::get)).gives("Me"),
    route(Method::DELETE, "/me", "Delete the account with everything in it", || delete(me::remove)).takes("Password").gives("Done"),
    route(Method::GET, "/tokens", "The tokens there are", || get(me::tokens)).gives("Tokens"),
    route(Method::DELETE, "/tokens/{id}", "Revoke a token", || delete(me::revoke)).gives("Done"),
    route(Method::GET, "/films", "Look for films and series by title, year, person and genre", || get(films::find))
        .query(&[("q", "words, or how they begin"), ("genre", "only of this genre"), ("decade", "only of the ten years from this one on"), ("kind", "only film or series"), ("page", "which page, from 1")])
        .gives("Found"),
    route(Method::POST, "/films", "Add a film or series that is missing; gives the one that is there if it isn't", || post(films::add)).takes("NewFilm").gives("Film"),
    route(Method::GET, "/films/{film}", "A film", || get(films::get)).gives("Film"),
    route(Method::PUT, "/films/{film}", "Correct a film that you added", || put(films::change)).takes("NewFilm").gives("Film"),
    route(Method::DELETE, "/films/{film}", "Remove a film that you added, within an hour; lists of others keep it", || delete(films::remove)).gives("Done"),
    route(Method::GET, "/list", "A page of your list", || get(list::page)).query(VIEW).gives("Page"),
    route(Method::GET, "/list/{film}", "A film on your list", || get(list::get)).gives("State"),
    route(Method::PUT, "/list/{film}", "Put a film on your list, or replace what you say about it; what is left out is as for a new one", || put(list::put))
        .takes("State").gives("Changed"),
    route(Method::DELETE, "/list/{film}", "Take a film off your list", || delete(list::remove)).gives("Changed"),
    route(Method::POST, "/list/{film}/move", "Move a film by one place, or to the top of the list", || post(list::shift)).takes("Move").gives("Changed"),
    route(Method::GET, "/tags", "The tags of your list, which are its lists with names", || get(list::tags)).gives("Tags"),
    route(Method::PUT, "/tags/{tag}", "Rename a tag on all films of your list, or end it", || put(list::rename)).takes("TagName").gives("Changed"),
    route(Method::PUT, "/tags/{tag}/shared", "Show a list with a name to your friends, or no longer", || put(list::share)).takes("Shared").gives("Done"),
    route(Method::POST, "/undo/{change}", "Undo one of the last changes of your list; what was changed again since then stays", || post(list::undo)).gives("Undone"),
    route(Method::POST, "/import", "Put the films of a list on yours: CSV, JSON, or a zip archive of them; the answer says what each column became", || post(list::import))
        .query(&[
            ("add_missing", "1: add films that are not known here"),
            ("columns", "JSON: what columns become, by their names, such as {\"Score\": \"rating_10\"}; the answer has the words, and \"unread\" is for a column that is not read"),
            ("day_first", "1: 5/1/2024 is in January; 0: it is in May"),
            ("name", "the name of the file, which at Letterboxd says what is in it"),
            ("preview", "1: nothing is changed, the answer says what would be"),
            ("prefer_file", "1: what the file says replaces what your list says differently"),
            ("profile", "whose rows are read, of the people of one account"),
            ("watched", "1: its films were watched, as those of Letterboxd's watched.csv; otherwise its columns say so"),
            ("zone", "your time zone, such as Europe/Berlin or +02:00, in which times become days; otherwise UTC"),
        ]).takes_file().gives("Imported"),
    route(Method::GET, "/sync", "Your list with the versions of its fields, for a device that works without a connection", || get(sync::get)).gives("Snapshot"),
    route(Method::POST, "/sync", "Merge changes that a device made without a connection; those sent before are skipped", || post(sync::post))
        .takes("Operations").gives("Merged"),
    route(Method::GET, "/export", "All that is kept of you", || get(me::export)).gives("Export"),
    route(Method::GET, "/export.csv", "Your list as CSV", || get(list::csv)),
    route(Method::GET, "/export/letterboxd.csv", "The films that you watched, in the form that Letterboxd imports", || get(list::letterboxd)),
    route(Method::GET, "/export/letterboxd-watchlist.csv", "The films that you want to watch, in the form that Letterboxd imports", || get(list::letterboxd_watchlist)),
    route(Method::GET, "/friends", "Your friends, and requests to be one", || get(friends::all)).gives("Friends"),
    route(Method::POST, "/friends", "Send a friend request; the answer is the same whether or not a user has the name", || post(friends::request))
        .takes("Name").gives("Done"),
    route(Method::DELETE, "/friends/{name}", "End a friendship", || delete(friends::unfriend)).gives("Done"),
    route(Method::POST, "/requests/{name}/accept", "Accept a friend request", || post(friends::accept)).gives("Done"),
    route(Method::POST, "/requests/{name}/decline", "Decline a friend request", || post(friends::decline)).gives("Done"),
    route(Method::DELETE, "/requests/{name}", "Take back a request of yours", || delete(friends::take_back)).gives("Done"),
    route(Method::POST, "/invitations", "Make an invitation, good once", || post(friends::invite)).gives("Invitation"),
    route(Method::GET, "/people/{name}/list", "A page of a friend's list, as far as it is public", || get(friends::list)).query(VIEW).gives("Page"),
    route(Method::GET, "/people/{name}/tags", "The lists with names that a friend shows", || get(friends::tags)).gives("Tags"),
    route(Method::POST, "/blocked", "Block a friend or the sender of a request: the friendship ends, and requests no longer reach you", || post(friends::block)).takes("Name").gives("Done"),
    route(Method::DELETE, "/blocked/{name}", "Unblock a user", || delete(friends::unblock)).gives("Done"),
    route(Method::GET, "/tonight", "The films that you and friends all want to watch, the most wanted first, those that all but one want, and a fair pick among the first", || get(tonight::get))
        .query(&[("with", "a friend's name; once for each"), ("genre", "only of this genre"), ("kind", "only film or series"), ("minutes", "only films of at most this running time")]).gives("Tonight"),
];
