//! The OpenAPI document: utoipa's description of the routes, and the schemas of `convoke_api::schema`.
//!
//! Added here are the parts that all routes share: the security scheme and the answers to requests that fail.

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{TEAM_NAME, THREAD_NAME};
use convoke_api::schema;
use serde_json::{Map, Value, json};
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;

use crate::json;

/// The head of the document.
#[derive(OpenApi)]
#[openapi(info(
    title = "Convoke",
    description = "Run, resume and review sessions with coding agents.",
    license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    contact()
))]
struct Document;

/// Patterns of path parameters.
const PARAMETERS: [(&str, &str, &str); 5] = [
    ("/api/teams/", "team", TEAM_NAME),
    ("/api/teams/", "from", TEAM_NAME),
    ("/api/teams/", "to", TEAM_NAME),
    ("/api/teams/", "thread", THREAD_NAME),
    ("/api/teams/sessions/", "id", "^([1-9][0-9]{0,14}|[0-9a-f]{8}-[0-9a-f-]{0,27})$"),
];

/// The two forms of an answer, which the schema of its type does not show.
const ANSWER: &str = r##"{"oneOf": [
    {
        "type": "object",
        "description": "The answer to a permission.",
        "properties": {
            "optionId": {"type": "string"},
            "rule": {
                "type": ["integer", "null"],
                "minimum": 0,
                "description": "The rule that the answer makes, of the permission's `rules`, counted from 0."
            },
            "remember": {
                "type": ["boolean", "null"],
                "description": "The same as `rule: 0`."
            },
            "answers": {"type": "null"}
        },
        "required": ["optionId"],
        "additionalProperties": false
    },
    {
        "type": "object",
        "description": "The answers to questions, by the number of the question, counted from 0.",
        "properties": {
            "optionId": {"type": "null"},
            "rule": {"type": "null"},
            "remember": {"type": "null"},
            "answers": {
                "type": "object",
                "propertyNames": {"pattern": "^(0|[1-9][0-9]{0,3})$"},
                "additionalProperties": {"$ref": "#/components/schemas/GivenAnswer"}
            }
        },
        "required": ["answers"],
        "additionalProperties": false
    }
]}"##;

/// Splits the router from its OpenAPI document.
pub(crate) fn split<S: Clone + Send + Sync + 'static>(
    routes: OpenApiRouter<S>,
    version: &str,
) -> (Router<S>, Bytes) {
    let (router, described) = routes.split_for_parts();
    let mut document = Document::openapi().merge_from(described);
    version.clone_into(&mut document.info.version);
    document.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>("token", [])]);
    let token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("The token of run/daemon.json in Convoke's home."))
        .build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(token));
    // A document that cannot be serialised would fail the first test.
    let mut document = serde_json::to_value(document).unwrap_or_default();
    if let Some(Value::Object(components)) = document.get_mut("components") {
        components.insert("schemas".to_owned(), Value::Object(schema::components()));
    }
    complete(&mut document);
    (router, document.to_string().into())
}

/// Responds with the document.
pub(crate) fn show(document: Bytes) -> Response {
    json::written(StatusCode::OK, document)
}

fn complete(document: &mut Value) {
    if let Some(answer) = document.pointer_mut("/components/schemas/Answer") {
        *answer = serde_json::from_str(ANSWER).unwrap_or_default();
    }
    link(document);
    let paths = document.get_mut("paths").and_then(Value::as_object_mut).into_iter().flatten();
    for (path, operations) in paths {
        for (_, operation) in operations.as_object_mut().into_iter().flatten() {
            limit_parameters(path, operation);
            add_problems(operation);
        }
    }
}

fn limit_parameters(path: &str, operation: &mut Value) {
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        let known = PARAMETERS.iter().filter(|(below, ..)| path.starts_with(below));
        for (_, name, pattern) in known {
            if parameter.get("name").and_then(Value::as_str) == Some(*name)
                && let Some(Value::Object(schema)) = parameter.get_mut("schema")
            {
                schema.insert("pattern".to_owned(), json!(pattern));
            }
        }
    }
}

/// Adds links from the session that a response creates to the operations on it.
fn link(document: &mut Value) {
    let paths = document.get("paths").and_then(Value::as_object).into_iter().flatten();
    let with_session = paths.filter(|(path, _)| path.starts_with("/api/sessions/{id}"));
    let operations = with_session.flat_map(|(_, path)| path.as_object().into_iter().flatten());
    let links: Map<String, Value> = operations
        .filter_map(|(_, operation)| operation.get("operationId")?.as_str())
        // Other links need the session, so none leads to the route that erases it.
        .filter(|id| *id != "eraseSession")
        .map(|id| {
            let link = json!({"operationId": id, "parameters": {"id": "$response.body#/id"}});
            (id.to_owned(), link)
        })
        .collect();
    let begun = document.pointer_mut("/paths/~1api~1sessions/post/responses/201");
    if let Some(Value::Object(begun)) = begun {
        begun.insert("links".to_owned(), Value::Object(links));
    }
}

/// Adds the error responses that any operation may have.
fn add_problems(operation: &mut Value) {
    let is_open = operation.get("security").is_some();
    let has_body = operation.get("requestBody").is_some();
    let has_query = operation.get("parameters").is_some();
    let common = [
        ("400", "The body is not JSON", has_body),
        ("401", "The token is missing or wrong", !is_open),
        ("403", "The Host, the Origin or the path is not allowed", true),
        ("408", "The body did not arrive in time", has_body),
        ("413", "The body is too large", has_body),
        ("415", "The body is not application/json", has_body),
        ("422", "A value is invalid; the detail names it", has_body || has_query),
        ("500", "Internal error; see the log", true),
        ("503", "The daemon is stopping, the disk is full, or the database is away", true),
    ];
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
    let Some(responses) = responses else { return };
    for (status, description, applies) in common {
        if applies && !responses.contains_key(status) {
            responses.insert(status.to_owned(), json!({"description": description}));
        }
    }
    let is_problem = |status: &str| status.starts_with(['4', '5']);
    for (status, response) in responses.iter_mut().filter(|(status, _)| is_problem(status)) {
        let Some(response) = response.as_object_mut() else { continue };
        let problem = json!({"schema": {"$ref": "#/components/schemas/Problem"}});
        response.insert("content".to_owned(), json!({"application/problem+json": problem}));
        let header = match status.as_str() {
            "401" => json!({"WWW-Authenticate": {"schema": {"type": "string"}}}),
            "429" | "503" => json!({"Retry-After": {"schema": {"type": "integer"}}}),
            _ => continue,
        };
        response.insert("headers".to_owned(), header);
    }
}
