//! The OpenAPI 3.1 document, made from the table of routes and the types that they take and give.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{Gives, PREFIX, Route, table};
use crate::auth::{Need, Role};
use crate::problem::Problem;

/// The OpenAPI document of all routes.
pub fn document() -> Value {
    let Described { paths, read, written } = Described::all();
    let mut schemas = read;
    schemas.extend(written);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Optimist",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The HTTP API of `optimist serve`; docs/api.md is an introduction.",
            "license": { "name": "MIT", "identifier": "MIT" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }, { "session": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "A token made by `optimist token create`, or the one in the link that a local server prints." },
                "session": {
                    "type": "apiKey", "in": "cookie", "name": "__Host-optimist",
                    "description": "The session of a browser; requests that change something also need the header X-CSRF-Token.",
                },
            },
        },
    })
}

/// All operations, and the types that they refer to.
struct Described {
    paths: Map<String, Value>,
    /// Schemas of types in requests, by name.
    read: Map<String, Value>,
    /// Schemas of types in responses, by name.
    written: Map<String, Value>,
}

impl Described {
    fn all() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = "/components/schemas".into();
                settings.meta_schema = None;
            })
        };
        // Schemas for reading and for writing differ in which fields are optional.
        let mut reads = SchemaGenerator::new(settings().for_deserialize());
        let mut writes = SchemaGenerator::new(settings().for_serialize());
        let problem = writes.subschema_for::<Problem>().to_value();
        let mut paths = Map::new();
        for route in table() {
            let operation = operation(&route, &problem, &mut reads, &mut writes);
            let path = paths.entry(format!("{PREFIX}{}", route.path)).or_insert_with(|| json!({}));
            path[route.method.as_str().to_lowercase()] = operation;
        }
        Self { paths, read: reads.take_definitions(true), written: writes.take_definitions(true) }
    }
}

fn operation(
    route: &Route,
    problem: &Value,
    reads: &mut SchemaGenerator,
    writes: &mut SchemaGenerator,
) -> Value {
    let (media, schema) = match route.gives {
        Gives::Json(describe) => ("application/json", describe(writes)),
        Gives::Other(media) => (media, json!({})),
    };
    let created = matches!(route.id, "create" | "add_user" | "create_token" | "create_log");
    let mut content = Map::from_iter([(media.to_owned(), json!({ "schema": schema }))]);
    if route.id == "plot" {
        content.insert("image/svg+xml".to_owned(), json!({}));
        content.insert("image/png".to_owned(), json!({}));
    }
    let mut responses = Map::new();
    responses.insert(
        if created { "201" } else { "200" }.to_owned(),
        json!({ "description": "Success.", "content": content }),
    );
    if route.method == axum::http::Method::GET {
        responses.insert("304".to_owned(), json!({ "description": "Not modified." }));
    }
    let problem = json!({ "description": "An error: what was wrong, what was expected and what to do.",
                          "content": { "application/problem+json": { "schema": problem } } });
    responses.insert("default".to_owned(), problem);
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.summary,
        "description": format!("Roles: {}.", roles(route.need).join(", ")),
        "x-needs": roles(route.need),
        "parameters": parameters(route, reads),
        "responses": responses,
    });
    if let Some(body) = route.body {
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": body(reads) } } });
    }
    operation
}

/// The roles that cover `need`.
fn roles(need: Need) -> Vec<&'static str> {
    Role::ALL.into_iter().filter(|role| role.has(need)).map(Role::word).collect()
}

fn parameters(route: &Route, reads: &mut SchemaGenerator) -> Vec<Value> {
    let mut parameters: Vec<Value> =
        route.path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).map(of_path).collect();
    if let Some(query) = route.query {
        let schema = resolved(query(reads), reads);
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        parameters.extend(properties.into_iter().map(|(name, schema)| {
            let is_required = required.iter().any(|required| *required == name.as_str());
            let description = schema["description"].clone();
            json!({ "in": "query", "name": name, "required": is_required, "description": description, "schema": schema })
        }));
    }
    if route.method == axum::http::Method::POST {
        parameters.push(json!({
            "in": "header", "name": "Idempotency-Key", "required": false,
            "description": "Any word. Repeating a request with the same key performs it once and returns the same response.",
            "schema": { "type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$" },
        }));
    }
    parameters
}

fn of_path(name: &str) -> Value {
    let schema = match name {
        "trial" => json!({ "type": "integer", "minimum": 0 }),
        "log" => json!({ "type": "integer" }),
        "kind" => {
            json!({ "type": "string", "enum": optimist_plot::study::PlotKind::ALL.map(optimist_plot::study::PlotKind::word) })
        }
        _ => json!({ "type": "string", "minLength": 1 }),
    };
    json!({ "in": "path", "name": name, "required": true, "schema": schema })
}

/// Follows a schema that is a reference.
fn resolved(schema: Value, generator: &SchemaGenerator) -> Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    name.and_then(|name| generator.definitions().get(name).cloned()).unwrap_or(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_one_schema() {
        let Described { read, written, .. } = Described::all();
        assert!(read.len() > 10 && written.len() > 10);
        for (name, schema) in &read {
            if let Some(other) = written.get(name) {
                assert_eq!(schema, other, "`{name}` is one type in requests and another in responses");
            }
        }
    }
}
