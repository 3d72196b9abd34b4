//! The description of the API for programs: OpenAPI 3.1, made of the list of routes.

use super::routes::{PREFIX, ROUTES, Route};
use serde_json::{Map, Value, json};

/// The whole document.
pub fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_lowercase()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "What to Watch",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The watch list, for programs. Ids are ULIDs; days are YYYY-MM-DD, in UTC.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": PREFIX}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "A token from your account's page"}},
            "schemas": schemas(),
        },
    })
}

/// The names between braces in a path.
fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn operation(route: &Route) -> Value {
    let text = json!({"type": "string"});
    let in_path = path_names(route.path)
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": text}));
    let in_query = route.query.iter().map(
        |(name, what)| json!({"name": name, "in": "query", "description": what, "schema": text}),
    );
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let given = match route.gives {
        Some(schema) => json!({"application/json": {"schema": reference(schema)}}),
        None => json!({"text/csv": {"schema": text}}),
    };
    let error = json!({"description": "What was wrong", "content": {"application/json": {"schema": reference("Error")}}});
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.what,
        "parameters": in_path.chain(in_query).collect::<Vec<_>>(),
        "responses": {"2XX": {"description": "Done", "content": given}, "4XX": error},
    });
    let body = match route.takes {
        Some(schema) => Some(json!({"application/json": {"schema": reference(schema)}})),
        None => route.takes_file.then(
            || json!({"text/csv": {"schema": text}, "application/json": {}, "application/zip": {}}),
        ),
    };
    if let Some(content) = body {
        operation["requestBody"] = json!({"required": true, "content": content});
    }
    operation
}

fn operation_id(route: &Route) -> String {
    let words = route.path.split(['/', '.']).filter(|word| !word.is_empty());
    let words = words.map(|word| word.trim_matches(['{', '}']));
    let verb = route.method.as_str().to_lowercase();
    words.fold(verb, |id, word| format!("{id}_{word}"))
}

/// An object of these fields, all of them always there.
fn object(fields: Value) -> Value {
    let names: Vec<&String> = fields.as_object().into_iter().flat_map(Map::keys).collect();
    json!({"type": "object", "required": names, "properties": fields})
}

/// The properties of a film and of an entry.
fn film_and_state() -> (Value, Value) {
    let film = json!({
        "film": {"type": "string", "description": "Its id"},
        "kind": {"enum": ["film", "series"]},
        "title": {"type": "string"},
        "original_title": {"type": ["string", "null"], "description": "In the language of the film, if it is another one"},
        "year": {"type": ["integer", "null"], "description": "Of a series the first one"},
        "end_year": {"type": ["integer", "null"], "description": "The last year of a series; null if it goes on"},
        "seasons": {"type": "array", "items": {"type": "integer"}, "description": "Numbers of episodes of the seasons of a series, 0 where it isn't known"},
        "people": {"type": "array", "items": {"type": "string"}},
        "genres": {"type": "array", "items": {"type": "string"}},
        "minutes": {"type": ["integer", "null"], "description": "Running time"},
        "imdb": {"type": ["string", "null"]},
    });
    let state = json!({
        "priority": {"type": "integer", "minimum": 1, "maximum": 5, "default": 3, "description": "5 is the most wanted"},
        "public": {"type": "boolean", "default": true, "description": "Whether friends see it"},
        "watched": {"type": "boolean", "default": false},
        "watched_on": {"type": ["string", "null"], "format": "date"},
        "earlier": {"type": "array", "items": {"type": "string", "format": "date"}, "description": "Days on which it was watched before"},
        "seasons_watched": {"type": "integer", "minimum": 0, "default": 0, "description": "Of a series: how many seasons were watched, the first ones. With the last one it is watched, and the other way round"},
        "rating": {"type": ["integer", "null"], "minimum": 1, "maximum": 10},
        "note": {"type": ["string", "null"], "description": "Only its writer sees it"},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Names of lists of one's own; only their writer sees them"},
    });
    (film, state)
}

fn schemas() -> Value {
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    let list = |items: Value| json!({"type": "array", "items": items});
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let (film, state) = film_and_state();
    let entry = json!({"allOf": [reference("Film"), {"type": "object", "properties": state}, {"type": "object", "properties": {"added": {"type": "string", "format": "date"}}}]});
    let request = object(json!({"name": text, "sent": {"type": "string", "format": "date"}}));
    let mut schemas = json!({
        "Error": object(json!({"error": text})),
        "Done": object(json!({"done": {"type": "boolean"}})),
        "Undone": object(json!({"done": {"type": "boolean"}, "films": {"type": "integer", "description": "Films that are as before, at least in part"}, "left": {"type": "integer", "description": "Films of which something stays, because it was changed again since"}})),
        "Me": object(json!({"name": text, "signed_up": text, "is_owner": {"type": "boolean"}, "to_watch": number, "watched": number, "news": {"type": "integer", "description": "Requests for you, and friends with new films"}})),
        "Password": object(json!({"password": text})),
        "Tokens": object(json!({"tokens": list(object(json!({"id": text, "name": text, "made": text})))})),
        "Film": object(film),
        "NewFilm": {
            "type": "object", "required": ["title"],
            "properties": {"kind": {"enum": ["film", "series"], "default": "film"}, "title": text, "original_title": text, "year": number, "end_year": number, "seasons": list(number.clone()), "people": list(text.clone()), "genres": list(text.clone()), "minutes": number},
        },
        "Found": object(json!({"films": list(reference("Film")), "is_guess": {"type": "boolean", "description": "Whether the films match by similar spelling only"}, "has_more": {"type": "boolean", "description": "Whether there is a further page"}})),
        "State": {"type": "object", "properties": state},
        "Entry": entry,
        "Page": object(json!({"total": number, "page": number, "pages": number, "films": list(reference("Entry"))})),
        "Changed": object(json!({"change": {"type": "string", "description": "For /undo"}})),
        "Move": object(json!({"direction": {"enum": ["up", "down", "top"]}})),
        "Imported": object(json!({"change": {"type": ["string", "null"], "description": "For /undo; null in a preview"}, "added": number, "changed": number, "present": number, "unclear": list(text.clone()), "missing": list(text.clone()),
            "no_room": list(text.clone()), "tables": list(reference("Table")), "questions": list(text.clone()), "problems": list(text.clone()),
            "zone": {"type": ["string", "null"], "description": "In which times became days"}, "no_films": number, "dropped": number})),
        "Table": object(json!({"format": {"type": ["string", "null"]}, "files": list(text.clone()), "rows": {"enum": ["to_watch", "watched"]},
            "columns": list(object(json!({"name": text, "becomes": text, "samples": list(text.clone())})))})),
        "Tags": object(json!({"tags": list(object(json!({"name": text, "films": number, "shared": {"type": "boolean"}})))})),
        "Shared": object(json!({"shared": {"type": "boolean"}})),
        "TagName": object(json!({"name": {"type": "string", "description": "Empty: no film has the tag any more"}})),
        "Export": {"type": "object"},
        "Name": object(json!({"name": text})),
        "Friends": object(json!({"friends": list(text.clone()), "blocked": list(text.clone()), "requests_received": list(request.clone()), "requests_sent": list(request)})),
        "Invitation": object(json!({"path": {"type": "string", "description": "Behind the site's address"}, "days": number})),
        "Candidate": json!({"allOf": [reference("Film"), object(json!({
            "points": number, "chance": {"type": "number"},
            "priorities": {"type": "array", "items": number, "description": "0 for who does not have it to watch"},
        }))]}),
        "Tonight": object(json!({
            "people": list(text.clone()),
            "films": list(reference("Candidate")),
            "nearly": list(reference("Candidate")),
            "pick": {"type": ["string", "null"]},
        })),
    });
    if let (Some(schemas), Value::Object(more)) = (schemas.as_object_mut(), of_sync()) {
        schemas.extend(more);
    }
    schemas
}

/// The schemas of what devices send and get that work without a connection.
fn of_sync() -> Value {
    let text = json!({"type": "string"});
    let list = |items: Value| json!({"type": "array", "items": items});
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let versions = |what: &str| json!({"type": "object", "description": what, "additionalProperties": list(text.clone())});
    let fields = json!({"type": "object", "properties": {
        "listed": {"type": "boolean"},
        "priority": {"type": "integer", "minimum": 1, "maximum": 5},
        "public": {"type": "boolean"},
        "watched": {"type": "object", "properties": {
            "watched": {"type": "boolean"}, "watched_on": {"type": ["string", "null"], "format": "date"}, "earlier": {"type": "array", "items": {"type": "string", "format": "date"}}, "seasons_watched": {"type": "integer"}, "rating": {"type": ["integer", "null"]},
        }},
        "note": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Sorted"},
        "place": {"type": ["number", "null"], "description": "Within the priority; without one the time at which the film was added"},
    }});
    let conflict = object(json!({"field": text, "value": {}, "versions": list(text.clone())}));
    json!({
        "Fields": fields,
        "Snapshot": object(json!({
            "user": {"type": "string", "description": "Their id"},
            "films": list(json!({"allOf": [reference("Film"), object(json!({
                "fields": reference("Fields"), "versions": versions("Per field, the ids of the operations that wrote it"),
                "conflicts": list(conflict), "added_ms": {"type": "integer"},
            }))]})),
        })),
        "Operations": object(json!({"operations": list(json!({
            "type": "object", "required": ["id", "film", "set"],
            "properties": {
                "id": {"type": "string", "description": "A ULID that the device makes, greater than all versions that it knows of the film"},
                "film": text, "set": reference("Fields"), "base": versions("Per field, the versions that the operation replaces"),
            },
        }))})),
        "Merged": object(json!({
            "change": {"type": ["string", "null"], "description": "For /undo"},
            "results": list(object(json!({"id": text, "refused": {"type": ["string", "null"], "description": "Why, if the operation is not merged"}}))),
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_that_is_named_is_there_and_used() {
        let document = document();
        let text = document.to_string();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for name in schemas.keys() {
            assert!(
                text.contains(&format!("\"#/components/schemas/{name}\"")),
                "{name} isn't used"
            );
        }
        for reference in text.split("#/components/schemas/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(schemas.contains_key(name), "{name} isn't there");
        }
    }

    #[test]
    fn operations_have_names_of_their_own() {
        let mut ids: Vec<String> = ROUTES.iter().map(operation_id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), ROUTES.len());
    }
}
