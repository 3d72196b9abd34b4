//! The frame of all pages.

use super::{assets::address, pattern::around};
use crate::{
    request::Me,
    words::{self, Message, say},
};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The places of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One's own list.
    List,
    /// All films.
    Films,
    /// The page that picks a film for tonight.
    Tonight,
    /// Friends.
    Friends,
    /// One's account.
    Account,
}

/// A place with its address, its name, and the lines of its picture.
type PlaceFacts = (Place, &'static str, fn() -> Message, &'static str);

const PLACES: [PlaceFacts; 5] = [
    (
        Place::List,
        "/",
        say::place_list,
        "M4 6h2M4 12h2M4 18h2M9 6h11M9 12h11M9 18h11",
    ),
    (
        Place::Films,
        "/films",
        say::place_films,
        "M10.5 4a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13M15.5 15.5L20.5 20.5",
    ),
    (
        Place::Tonight,
        "/tonight",
        say::place_tonight,
        "M20 14.5A8 8 0 0 1 9.5 4A8 8 0 1 0 20 14.5",
    ),
    (
        Place::Friends,
        "/friends",
        say::place_friends,
        "M9 4.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 0 0 0-7M2.5 20c0-4 3-6 6.5-6s6.5 2 6.5 6M16 5a3.2 3.2 0 0 1 0 6M18 14.5c2.2.8 3.5 2.7 3.5 5.5",
    ),
    (
        Place::Account,
        "/account",
        say::place_account,
        "M12 4a4 4 0 1 0 0 8a4 4 0 0 0 0-8M4 20.5c0-4 3.5-6 8-6s8 2 8 6",
    ),
];

/// A page that wants its content.
pub struct Page<'a> {
    title: Message,
    place: Option<Place>,
    me: Option<&'a Me>,
}

impl<'a> Page<'a> {
    /// A page of this title, for anybody.
    pub fn new(title: Message) -> Self {
        Page {
            title,
            place: None,
            me: None,
        }
    }

    /// Adds the navigation for a signed-in user.
    pub fn of(mut self, me: &'a Me) -> Self {
        self.me = Some(me);
        self
    }

    /// In this place of the navigation.
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// The whole page.
    pub fn show(self, body: Markup) -> Markup {
        self.show_parts(&[&body.into_string()])
    }

    /// The whole page, whose content consists of these parts. Each part is copied once.
    pub fn show_parts(self, body: &[&str]) -> Markup {
        let (before, behind) = around(|place| self.frame(place));
        let bytes: usize = body.iter().map(|part| part.len()).sum();
        let mut page = String::with_capacity(before.len() + bytes + behind.len());
        page += &before;
        page.extend(body.iter().copied());
        page += &behind;
        PreEscaped(page)
    }

    fn frame(&self, body: PreEscaped<&'static str>) -> Markup {
        let language = words::current();
        html! {
            (DOCTYPE)
            html lang=(language.tag()) dir=(language.direction()) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="theme-color" content="#f7f4ee" media="(prefers-color-scheme: light)";
                    meta name="theme-color" content="#171513" media="(prefers-color-scheme: dark)";
                    title { (say::page_title(self.title.clone()).plain()) }
                    link rel="icon" href=(address("logo.svg")) type="image/svg+xml";
                    link rel="apple-touch-icon" href=(address("icon-192.png"));
                    link rel="manifest" href="/manifest.webmanifest";
                    link rel="stylesheet" href=(address("style.css"));
                    script src=(address(&words::script(language))) defer {}
                    script src=(address("device.js")) defer {}
                    script src=(address("app.js")) defer {}
                }
                body data-user=[self.me.map(|me| me.user.id)] {
                    a.skip href="#main" { (say::layout_skip()) }
                    header.top {
                        a.brand href="/" {
                            img src=(address("logo.svg")) alt="" width="32" height="32";
                            span { (say::brand()) }
                        }
                        @if let Some(me) = self.me { (self.navigation(me)) }
                    }
                    main id="main" tabindex="-1" { (body) }
                    // A script says here what has changed.
                    div.unseen id="live" role="status" {}
                }
            }
        }
    }

    fn navigation(&self, me: &Me) -> Markup {
        html! {
            nav.places aria-label=(say::layout_main()) {
                @for (place, href, name, lines) in PLACES {
                    a href=(href) aria-current=[(self.place == Some(place)).then_some("page")] {
                        svg viewBox="0 0 24 24" aria-hidden="true" { path d=(lines) {} }
                        span { (name()) }
                        @if place == Place::Friends && me.news > 0 {
                            span.badge { (me.news) span.unseen { " " (say::layout_new()) } }
                        }
                    }
                }
            }
        }
    }
}
