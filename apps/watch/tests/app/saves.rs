//! *Save* on a page that was opened before another device's change: it writes the fields that were changed on the page, and no others.

use crate::{
    client::{Client, Site},
    sync::clear,
};
use proptest::{prelude::*, sample::Index, test_runner::TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The form of a film as it was opened, and filled in.
#[derive(Clone)]
struct Form {
    film: String,
    fields: BTreeMap<&'static str, String>,
}

impl Form {
    async fn open(client: &mut Client, film: &str) -> Self {
        let page = client.get(&format!("/films/{film}")).await;
        let path = format!("/list/{film}");
        let answer = client.api("GET", &path, Value::Null).await;
        let state = match answer.status.is_success() {
            true => answer.json(),
            false => json!({"priority": 3, "public": true}),
        };
        let mut form = Form {
            film: film.to_owned(),
            fields: BTreeMap::new(),
        };
        for field in FIELDS {
            form.set(field, value(&state, field));
        }
        for name in ["token", "before", "page"] {
            if page.text.contains(&format!("name=\"{name}\"")) {
                let text = page.field(name).replace("&quot;", "\"");
                form.fields.insert(name, text.replace("&amp;", "&"));
            }
        }
        form
    }

    fn set(&mut self, field: &str, value: Value) {
        let text = match &value {
            Value::String(text) => text.clone(),
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let is_ticked = value == true;
        match field {
            "priority" => self.fields.insert("priority", text),
            "rating" => self.fields.insert("rating", text),
            "note" => self.fields.insert("note", text),
            "tags" => self.fields.insert("tags", text),
            _ if is_ticked => self.fields.remove("private"),
            _ => self.fields.insert("private", "1".to_owned()),
        };
    }

    /// Saves the form. Returns the change and the page that follows.
    async fn save(&self, client: &mut Client) -> (Option<String>, String) {
        let path = format!("/list/{}/save", self.film);
        let fields: Vec<(&str, &str)> = self.fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let back = format!("/films/{}", self.film);
        let fields = [&[("back", back.as_str())], &fields[..]].concat();
        let saved = client.post_as_is(&path, &fields).await;
        assert_eq!(saved.status, 303, "{}", saved.text);
        let location = saved.header("location").to_owned();
        let change = location.split_once("change=").map(|(_, id)| id.to_owned());
        (change, client.get(&location).await.text)
    }
}

const FIELDS: [&str; 5] = ["priority", "public", "rating", "note", "tags"];

/// The value of a field. A film with a rating was watched.
fn value(state: &Value, field: &str) -> Value {
    match (field, &state[field]) {
        ("note", Value::Null) => "".into(),
        ("tags", Value::Null) => json!([]),
        (_, value) => value.clone(),
    }
}

async fn state(client: &mut Client, film: &str) -> Value {
    let path = format!("/list/{film}");
    client.api("GET", &path, Value::Null).await.json()
}

async fn put(client: &mut Client, film: &str, state: Value) {
    let told = client.api("PUT", &format!("/list/{film}"), state).await;
    assert_eq!(told.status, 200, "{}", told.text);
}

async fn anna_with_a_film() -> (Site, Client, String) {
    let (site, mut people) = Site::with_people(&["Anna"]).await;
    let mut anna = people.remove(0);
    let alien = anna.add("alien", &[]).await;
    anna.make_token().await;
    (site, anna, alien)
}

const CONFLICT: &str = "Two devices changed the same";

#[tokio::test]
async fn an_older_page_saves_only_the_fields_that_were_changed_on_it() {
    let (_site, mut anna, alien) = anna_with_a_film().await;
    let mut form = Form::open(&mut anna, &alien).await;
    put(
        &mut anna,
        &alien,
        json!({"priority": 5, "tags": ["Halloween"], "rating": 9, "watched": true}),
    )
    .await;
    form.set("note", json!("With the\nlights on"));
    let (change, page) = form.save(&mut anna).await;
    assert!(
        page.contains("Saved") && !page.contains("value=\"note\""),
        "{page}"
    );
    let saved = state(&mut anna, &alien).await;
    let expected = json!([5, true, 9, "With the\nlights on", ["Halloween"]]);
    assert_eq!(json!(FIELDS.map(|field| value(&saved, field))), expected);
    // Undo is of this one field.
    put(
        &mut anna,
        &alien,
        json!({"priority": 2, "note": "With the\nlights on"}),
    )
    .await;
    let undo = format!("/undo/{}", change.unwrap());
    anna.api("POST", &undo, Value::Null).await;
    let undone = state(&mut anna, &alien).await;
    assert_eq!(
        (&undone["priority"], &undone["note"]),
        (&json!(2), &json!(null))
    );
    // A page on which nothing was changed changes nothing.
    let form = Form::open(&mut anna, &alien).await;
    put(&mut anna, &alien, json!({"note": "later"})).await;
    assert_eq!(form.save(&mut anna).await.0, None);
    assert_eq!(state(&mut anna, &alien).await["note"], "later");
}

#[tokio::test]
async fn a_field_that_was_changed_on_two_pages_is_a_conflict_that_is_shown() {
    let (_site, mut anna, alien) = anna_with_a_film().await;
    let mut forms = [
        Form::open(&mut anna, &alien).await,
        Form::open(&mut anna, &alien).await,
    ];
    for (form, note) in forms.iter_mut().zip(["of the phone", "of the laptop"]) {
        form.set("note", note.into());
        form.set("priority", 4.into());
        form.save(&mut anna).await;
    }
    let page = anna.get(&format!("/films/{alien}")).await;
    for words in [
        "of the phone",
        "of the laptop",
        "name=\"field\" value=\"note\"",
    ] {
        assert!(page.text.contains(words), "no {words} in {}", page.text);
    }
    // Equal values are none.
    assert!(
        !page.text.contains("name=\"field\" value=\"priority\""),
        "{}",
        page.text
    );
    assert!(anna.get("/").await.text.contains(CONFLICT));
    assert_eq!(state(&mut anna, &alien).await["note"], "of the laptop");
}

#[tokio::test]
async fn what_one_page_saves_twice_is_no_conflict() {
    let (_site, mut anna, alien) = anna_with_a_film().await;
    let jaws = anna.film("jaws").await;
    // A film of the list, and one that the page puts there.
    for film in [&alien, &jaws] {
        let mut page = Form::open(&mut anna, film).await;
        let mut other = Form::open(&mut anna, film).await;
        for note in ["first", "second", "third"] {
            // Before the answer of the save before is there.
            page.set("note", note.into());
            page.set("priority", (3 + note.len() % 3).into());
            page.save(&mut anna).await;
            assert_eq!(state(&mut anna, film).await["note"], note);
        }
        let shown = anna.get(&format!("/films/{film}")).await.text;
        assert!(!shown.contains("name=\"field\""), "{shown}");
        // What another page saves meanwhile is one.
        other.set("note", "of another".into());
        other.save(&mut anna).await;
        let shown = anna.get(&format!("/films/{film}")).await.text;
        assert!(
            shown.contains("name=\"field\" value=\"note\"") && shown.contains("third"),
            "{shown}"
        );
        page.set("note", "fourth".into());
        page.save(&mut anna).await;
        let shown = anna.get(&format!("/films/{film}")).await.text;
        assert!(shown.contains("of another"), "{shown}");
    }
    let text = anna.get("/").await.text;
    assert!(text.contains(CONFLICT), "{text}");
}

#[tokio::test]
async fn what_one_page_saves_and_takes_back_is_as_before() {
    let (_site, mut anna, alien) = anna_with_a_film().await;
    put(&mut anna, &alien, json!({"note": "old"})).await;
    let mut page = Form::open(&mut anna, &alien).await;
    for note in ["new", "old"] {
        page.set("note", note.into());
        page.save(&mut anna).await;
        assert_eq!(state(&mut anna, &alien).await["note"], note);
    }
    // What another device wrote stays.
    put(&mut anna, &alien, json!({"note": "of another"})).await;
    page.set("priority", 4.into());
    page.save(&mut anna).await;
    let now = state(&mut anna, &alien).await;
    assert_eq!(
        (&now["note"], &now["priority"]),
        (&json!("of another"), &json!(4))
    );
    assert!(!anna.get("/").await.text.contains(CONFLICT));
}

#[tokio::test]
async fn a_save_that_is_sent_twice_keeps_its_undo() {
    let (_site, mut anna, alien) = anna_with_a_film().await;
    put(&mut anna, &alien, json!({"note": "old"})).await;
    let mut page = Form::open(&mut anna, &alien).await;
    page.set("note", "new".into());
    let (first, _) = page.save(&mut anna).await;
    let (second, shown) = page.save(&mut anna).await;
    assert_eq!(first, second, "{shown}");
    // A film that is put on the list.
    let jaws = anna.film("jaws").await;
    let page_of_jaws = Form::open(&mut anna, &jaws).await;
    let (added, _) = page_of_jaws.save(&mut anna).await;
    let (again, shown) = page_of_jaws.save(&mut anna).await;
    assert_eq!(added, again, "{shown}");
    // Another page that saves the same makes a change of its own, or none.
    let other = Form::open(&mut anna, &jaws).await;
    assert_eq!(other.save(&mut anna).await.0, None);
    anna.api("POST", &format!("/undo/{}", second.unwrap()), Value::Null)
        .await;
    assert_eq!(state(&mut anna, &alien).await["note"], "old");
}

#[tokio::test]
async fn a_film_that_was_taken_off_meanwhile_stays_off_unless_it_is_changed() {
    let (_site, mut anna, alien) = anna_with_a_film().await;
    put(&mut anna, &alien, json!({"note": "old", "priority": 5})).await;
    let mut form = Form::open(&mut anna, &alien).await;
    let path = format!("/list/{alien}");
    anna.api("DELETE", &path, Value::Null).await;
    assert_eq!(form.save(&mut anna).await.0, None);
    assert_eq!(anna.api("GET", &path, Value::Null).await.status, 404);
    form.set("note", "new".into());
    let (_, page) = form.save(&mut anna).await;
    assert!(page.contains("taken off the list"), "{page}");
    let kept = state(&mut anna, &alien).await;
    assert_eq!(
        (&kept["note"], &kept["priority"]),
        (&json!("new"), &json!(5))
    );
}

#[tokio::test]
async fn a_film_that_was_added_on_two_pages_has_the_fields_of_both() {
    let (_site, mut anna, _) = anna_with_a_film().await;
    let jaws = anna.film("jaws").await;
    let mut form = Form::open(&mut anna, &jaws).await;
    put(
        &mut anna,
        &jaws,
        json!({"priority": 5, "tags": ["Halloween"]}),
    )
    .await;
    form.set("note", "The shark".into());
    form.save(&mut anna).await;
    let both = state(&mut anna, &jaws).await;
    let expected = json!([5, true, null, "The shark", ["Halloween"]]);
    assert_eq!(json!(FIELDS.map(|field| value(&both, field))), expected);
    assert!(!anna.get("/").await.text.contains(CONFLICT));
}

#[tokio::test]
async fn the_longest_form_is_saved() {
    let (_site, mut anna, alien) = anna_with_a_film().await;
    let name = |n: u32| char::from_u32(0x1f400 + n).unwrap().to_string().repeat(60);
    let tags: Vec<String> = (0..20).map(name).collect();
    for animal in ["🐟", "🐙"] {
        let mut form = Form::open(&mut anna, &alien).await;
        form.set("note", animal.repeat(2000).into());
        form.fields.insert("tags", tags.join(", "));
        form.save(&mut anna).await;
        let saved = state(&mut anna, &alien).await;
        assert_eq!(
            (&saved["note"], &saved["tags"]),
            (&json!(animal.repeat(2000)), &json!(tags))
        );
    }
}

/// What happens on two devices, one after the other.
#[derive(Clone, Debug)]
enum Step {
    /// A device opens the page of the film.
    Open(usize),
    /// It changes these fields on the page that it has open, and saves.
    Save(usize, Vec<(usize, usize)>),
    /// One of the changes that were not undone is.
    Undo(Index),
}

fn step() -> impl Strategy<Value = Step> {
    let fields = proptest::collection::vec((0..FIELDS.len(), 0..3usize), 0..=3);
    prop_oneof![
        1 => (0..2usize).prop_map(Step::Open),
        3 => (0..2usize, fields).prop_map(|(device, fields)| Step::Save(device, fields)),
        1 => any::<Index>().prop_map(Step::Undo),
    ]
}

/// One of three values of a field.
fn choice(field: &str, at: usize) -> Value {
    match field {
        "priority" => json!(at + 1),
        "public" => json!(at > 0),
        "rating" => json!([None, Some(4), Some(8)][at]),
        "note" => json!(["", "a", "b"][at]),
        _ => json!([vec![], vec!["a"], vec!["b"]][at]),
    }
}

/// A device with the page of the film: the form, and the values with which it was opened.
struct Open {
    form: Form,
    values: Value,
}

impl Open {
    async fn new(client: &mut Client, film: &str) -> Self {
        let form = Form::open(client, film).await;
        let values = state(client, film).await;
        Open { form, values }
    }
}

/// The values that a field has had, each with the step that set it: *Undo* takes the last one if its change set it.
type Model = BTreeMap<&'static str, Vec<(Value, usize)>>;

/// Runs the steps, and returns how many conflicts there were.
async fn run(client: &mut Client, film: &str, steps: &[Step]) -> usize {
    put(client, film, json!({"note": "old"})).await;
    let first = state(client, film).await;
    let mut model: Model = FIELDS
        .map(|field| (field, vec![(value(&first, field), usize::MAX)]))
        .into();
    let mut devices = [Open::new(client, film).await, Open::new(client, film).await];
    let (mut changes, mut conflicts) = (Vec::new(), 0);
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Open(device) => devices[*device] = Open::new(client, film).await,
            Step::Save(device, fields) => {
                let Open { form, values } = &mut devices[*device];
                let mut set = BTreeMap::new();
                for (field, at) in fields {
                    let field = FIELDS[*field];
                    set.insert(field, choice(field, *at));
                }
                set.retain(|field, set| *set != value(values, field));
                for (field, value) in &set {
                    form.set(field, value.clone());
                }
                let (change, _) = form.save(client).await;
                changes.extend(change.map(|change| (change, number)));
                let told = client.api("GET", "/sync", Value::Null).await.json();
                let told = told["films"][0]["conflicts"].to_string();
                for (field, new) in set {
                    let stack = model.get_mut(field).unwrap();
                    let (last, _) = stack.last().unwrap().clone();
                    if last != new && last != value(values, field) {
                        assert!(
                            told.contains(&format!("\"value\":{}", kept(field, &last))),
                            "{field} {last} is lost: {told}"
                        );
                        conflicts += 1;
                    }
                    if last != new {
                        stack.push((new, number));
                    }
                }
                devices[*device] = Open::new(client, film).await;
            }
            Step::Undo(index) if !changes.is_empty() => {
                let (change, number) = changes.remove(index.index(changes.len()));
                let undone = client
                    .api("POST", &format!("/undo/{change}"), Value::Null)
                    .await;
                assert_eq!(undone.status, 200, "{}", undone.text);
                for stack in model.values_mut() {
                    stack.pop_if(|(_, of)| *of == number);
                }
            }
            Step::Undo(_) => {}
        }
        let now = state(client, film).await;
        for (field, stack) in &model {
            assert_eq!(
                value(&now, field),
                stack.last().unwrap().0,
                "{field} after step {number}"
            );
        }
    }
    conflicts
}

/// How a value begins among the conflicts of a snapshot.
fn kept(field: &str, value: &Value) -> String {
    match (field, value) {
        ("rating", rating) => json!({"watched": !rating.is_null()})
            .to_string()
            .replace('}', ""),
        ("note", note) if *note == "" => "null".to_owned(),
        (_, value) => value.to_string(),
    }
}

#[test]
fn saves_and_undos_of_two_devices_lose_nothing() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (site, mut anna, alien) = runtime.block_on(anna_with_a_film());
    let config = proptest::test_runner::Config {
        cases: 64,
        failure_persistence: None,
        ..Default::default()
    };
    let client = std::cell::RefCell::new((&mut anna, 0));
    let steps = proptest::collection::vec(step(), 1..19);
    TestRunner::new(config)
        .run(&steps, |steps| {
            let (anna, conflicts) = &mut *client.borrow_mut();
            *conflicts += runtime.block_on(async {
                clear(&site).await;
                run(anna, &alien, &steps).await
            });
            Ok(())
        })
        .unwrap();
    let (_, conflicts) = client.into_inner();
    // Most runs have some twenty.
    assert!(
        conflicts > 2,
        "the cases have too few conflicts: {conflicts}"
    );
}
