//! Which models a backend offers: asked of a server, told of the others.

use std::{path::Path, time::Duration, time::Instant};

use roster::{Backend, OpenAi};
use serde_json::Value;
use url::Url;

use super::{Failure, Kind, Sent, Upstream, body::Body, client, describe, openai::Try, request};

/// How long a probe may take, in all.
const PATIENCE: Duration = Duration::from_secs(3);

/// The most bytes of a list of models.
const MAX_LIST: usize = 4 * 1024 * 1024;

/// The most models, and the longest name, that are taken from one.
const MAX_MODELS: usize = 1000;
const MAX_NAME: usize = 200;

/// Asks the server for its models.
pub(super) async fn server(
    upstream: &Upstream,
    backend: &Backend,
    server: &OpenAi,
) -> Result<Vec<String>, Failure> {
    let cx = Try::new(upstream, backend, server, Some(Instant::now() + PATIENCE)).await?;
    let client = upstream.clients.to(&server.base_url, Some(PATIENCE))?;
    let models = ask(&cx, &client).await;
    models
        .map(|models| models.into_iter().map(|model| cx.redactor.text(model)).collect())
        .map_err(|failure| cx.redactor.failure(failure))
}

async fn ask(cx: &Try<'_>, client: &reqwest::Client) -> Result<Vec<String>, Failure> {
    let url = request::url(&cx.server.base_url, "models");
    let response = cx.send(client.get(url).headers(cx.headers("application/json")?)).await?;
    if !response.status().is_success() {
        return Err(cx.refused(response, false).await);
    }
    let mut body = Body::new(response);
    let mut bytes = Vec::new();
    let failed = |kind, message| Failure::new(kind, Sent::Answered, message);
    loop {
        match cx.timers.first(body.next()).await {
            Ok(Ok(Some(chunk))) if bytes.len() + chunk.len() <= MAX_LIST => {
                bytes.extend_from_slice(&chunk);
            }
            Ok(Ok(Some(_))) => {
                return Err(failed(
                    Kind::TooLarge,
                    "the list of models is larger than 4 MiB".into(),
                ));
            }
            Ok(Ok(None)) => break,
            Ok(Err(error)) => {
                let message = format!("the list of models broke off: {}", client::root(&error));
                return Err(failed(Kind::Incomplete, message));
            }
            Err(expired) => return Err(cx.timers.failure(expired, Sent::Answered)),
        }
    }
    let list = serde_json::from_slice(&bytes).ok().and_then(|list| names(&list));
    list.ok_or_else(|| {
        let shape = describe::shape(&body.content_type, &bytes);
        let message = format!("{shape} where a list of models was due; check `base_url`");
        failed(Kind::Malformed, message)
    })
}

/// The names in a list of models, in the forms that servers use, without repetition.
fn names(list: &Value) -> Option<Vec<String>> {
    let items = match list {
        Value::Array(items) => items,
        Value::Object(members) => {
            ["data", "models"].iter().find_map(|name| members.get(*name)?.as_array())?
        }
        _ => return None,
    };
    let mut names: Vec<String> = Vec::new();
    for item in items.iter().take(MAX_MODELS) {
        let name = match item {
            Value::String(name) => Some(name.as_str()),
            item => ["id", "name", "model"].iter().find_map(|key| item.get(*key)?.as_str()),
        };
        if let Some(name) = name.map(|name| describe::clip(name, MAX_NAME))
            && !name.is_empty()
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    Some(names)
}

/// A server that no roster entry names yet.
pub(super) fn unnamed(base_url: &Url) -> Backend {
    Backend {
        id: "probe".to_owned(),
        tier: roster::Tier::Local,
        kind: roster::Kind::OpenAi(OpenAi {
            base_url: base_url.clone(),
            model: String::new(),
            headers: std::collections::BTreeMap::new(),
            extra: serde_json::Map::new(),
            stream: false,
        }),
        good_at: Vec::new(),
        cost: None,
        can_delegate: false,
        enabled: true,
        key: None,
        limits: roster::Limits::default(),
        timeouts: roster::Timeouts::default(),
        retry: roster::Retry::default(),
    }
}

/// Whether a program could be started: it is a path to a file, or a name found on `PATH`.
pub(super) async fn program(name: &str, path: Option<&str>) -> Result<(), Failure> {
    let candidates: Vec<_> = if name.contains('/') {
        vec![Path::new(name).to_owned()]
    } else {
        std::env::split_paths(path.unwrap_or_default()).map(|dir| dir.join(name)).collect()
    };
    for candidate in candidates {
        let about = tokio::fs::metadata(&candidate).await;
        if about.is_ok_and(|about| {
            use std::os::unix::fs::PermissionsExt as _;
            about.is_file() && about.permissions().mode() & 0o111 != 0
        }) {
            return Ok(());
        }
    }
    Err(super::cli::not_found(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_usual_list_is_read() {
        let expected = Some(vec!["a".to_owned(), "b".to_owned()]);
        for list in [
            json!({"object": "list", "data": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}),
            json!({"models": [{"name": "a", "model": "x"}, {"model": "b"}]}),
            json!([{"id": "a"}, {"name": "b"}, {"other": 1}]),
            json!(["a", "b", "", 3]),
            json!({"data": null, "models": ["a", "b"]}),
        ] {
            assert_eq!(names(&list), expected, "{list}");
        }
        assert_eq!(names(&json!({"data": []})), Some(Vec::new()));
        for list in [json!({"x": 1}), json!("a"), json!(null), json!({"data": {"id": "a"}})] {
            assert_eq!(names(&list), None, "{list}");
        }
    }
}
