//! The name of each control has the words that are seen on it (WCAG 2.2, 2.5.3): people say these to a program that listens.

use crate::client::{Client, Site};

/// A text without tags, with one blank between words, ignoring case.
fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for c in html.chars() {
        match c {
            '<' => is_tag = true,
            '>' => is_tag = false,
            c if !is_tag => text.push(c),
            _ => {}
        }
    }
    let text = text.replace("&amp;", "&").replace("&quot;", "\"");
    let words = text.replace(['\u{2068}', '\u{2069}'], "").to_lowercase();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The controls with a name of their own: the element, the name and what is seen on it.
fn named(page: &str) -> Vec<(&'static str, String, String)> {
    let mut all = Vec::new();
    for element in ["a", "button", "summary"] {
        for part in page.split(&format!("<{element} ")).skip(1) {
            let (attributes, rest) = part.split_once('>').unwrap();
            let Some((_, name)) = attributes.split_once("aria-label=\"") else {
                continue;
            };
            let seen = rest.split(&format!("</{element}>")).next().unwrap();
            all.push((element, plain(name.split('"').next().unwrap()), plain(seen)));
        }
    }
    all
}

async fn check(client: &mut Client, path: &str) -> usize {
    let page = client.get(path).await.text;
    let controls = named(&page);
    for (element, name, seen) in &controls {
        assert!(
            name.contains(seen.as_str()),
            "{path}: {element} “{seen}” is named “{name}”"
        );
    }
    controls.len()
}

#[tokio::test]
async fn the_name_of_a_control_has_the_words_that_are_seen() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben", "Cleo"]).await;
    let ask = [("name", "Cleo")];
    people[1].post("/friends", "/friends/request", &ask).await;
    people[2]
        .post("/friends", "/friends/request", &[("name", "Ben")])
        .await;
    for language in ["en", "de"] {
        for person in &mut people[..2] {
            person.language = Some(language.to_owned());
        }
        let anna = &mut people[0];
        let film = anna.add("alien", &[("tags", "Halloween")]).await;
        anna.add("fargo", &[("watched", "on"), ("rating", "8")])
            .await;
        let series = anna.add("fleabag", &[("seasons_watched", "1")]).await;
        let fleabag = format!("/films/{series}");
        let mut count = 0;
        for path in [
            "/",
            "/?watched=1",
            "/?tag=Halloween",
            "/films",
            "/films?q=jaws",
            &format!("/films/{film}"),
            &fleabag,
            "/friends",
            "/tonight",
            "/people/Ben",
            "/account",
            "/users",
        ] {
            count += check(anna, path).await;
        }
        count += check(&mut people[1], "/friends").await;
        assert!(count > 30, "{count}");
    }
}
