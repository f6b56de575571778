//! `roster discover`: model servers that run on this machine, as entries for a roster.

use std::{collections::HashSet, fmt::Write as _};

use clap::Args;
use futures::future::join_all;
use roster::MAX_ID;
use routing::upstream::Upstream;
use serde_json::json;
use url::Url;

use crate::cli::{
    Context,
    exit::{Error, Exit},
    import::ids::slug,
    output::Output,
    progress::Spinner,
};

/// The ports of Ollama, llama.cpp, LM Studio and vLLM.
pub(crate) const PORTS: [u16; 4] = [11434, 8080, 1234, 8000];

/// What `roster discover` takes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant roster discover
  adjutant roster discover >> ~/.config/adjutant/roster.toml
  adjutant roster discover --port 18080 --port 8081
  adjutant roster discover --json | jq -r '.servers[].models[].model'

Only this machine is asked (GET /v1/models on 127.0.0.1). Add to each entry what it is good at: \
`good_at` is what a call names as `task`. With --json: one document with `servers` (each `base_url` \
and its `models`) and what was `asked`. Where none is found, the exit code is 5.")]
pub(crate) struct Discover {
    /// Ask this port instead of the usual ones; may be repeated
    #[arg(long = "port", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    ports: Vec<u16>,
}

/// A server that answered.
#[derive(Debug)]
pub(crate) struct Server {
    /// Its URL up to `/v1`.
    pub(crate) base_url: Url,
    /// Its models, each with an id that no other has.
    pub(crate) models: Vec<Model>,
}

/// One model of a server.
#[derive(Debug)]
pub(crate) struct Model {
    /// An id for the roster.
    pub(crate) id: String,
    /// Its name on the server.
    pub(crate) name: String,
}

impl Model {
    /// Whether its name says that it makes no text.
    pub(crate) fn is_embedding(&self) -> bool {
        let name = self.name.to_lowercase();
        ["embed", "rerank", "whisper", "tts"].iter().any(|word| name.contains(word))
    }
}

/// Runs `roster discover`.
///
/// # Errors
/// When no server answers, and when no HTTP client can be had.
pub(crate) async fn run(args: &Discover, cx: &Context) -> Result<(), Error> {
    let out = Output::new(&cx.env);
    let ports = if args.ports.is_empty() { &PORTS[..] } else { &args.ports };
    let spinner = Spinner::new("looking for model servers on this machine");
    let servers = spinner.during(find(ports)).await?;
    if cx.globals.json {
        let list = |server: &Server| {
            let models = server.models.iter().map(|m| json!({"id": m.id, "model": m.name}));
            json!({ "base_url": server.base_url.as_str(), "models": models.collect::<Vec<_>>() })
        };
        let asked: Vec<String> = ports.iter().map(|port| url(*port)).collect();
        out.json(
            &json!({ "servers": servers.iter().map(list).collect::<Vec<_>>(), "asked": asked }),
        )?;
    } else if !servers.is_empty() {
        out.text(
            &servers.iter().map(|server| entries(server, &[])).collect::<Vec<_>>().join("\n"),
        )?;
    }
    if servers.is_empty() {
        let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
        let words = format!(
            "no model server answers on 127.0.0.1, ports {}: start one (such as `ollama serve` or \
             `llama-server`), name its port with `--port`, or write the entry by hand",
            ports.join(", ")
        );
        return Err(Error::new(Exit::NotFound, words));
    }
    Ok(())
}

/// The servers that answer on these ports of the loopback interface, in the order of the ports.
///
/// # Errors
/// When no HTTP client can be had.
pub(crate) async fn find(ports: &[u16]) -> Result<Vec<Server>, Error> {
    let upstream = Upstream::new().map_err(|failure| Error::failed(failure.to_string()))?;
    let ask = |port: &u16| {
        let (url, upstream) = (Url::parse(&url(*port)), &upstream);
        async move {
            let url = url.ok()?;
            let models = Box::pin(upstream.models_at(&url)).await.ok()?;
            Some((url, models))
        }
    };
    let answers = join_all(ports.iter().map(ask)).await;
    let mut taken = HashSet::new();
    Ok(answers
        .into_iter()
        .flatten()
        .map(|(base_url, names)| {
            // A roster takes no name with control characters.
            let names = names.into_iter().filter(|name| !name.chars().any(char::is_control));
            let model = |name: String| Model { id: id(&name, &mut taken), name };
            Server { base_url, models: names.map(model).collect() }
        })
        .collect())
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/v1")
}

/// An id for a model: the last part of its name, and a number where that is taken.
fn id(name: &str, taken: &mut HashSet<String>) -> String {
    let last = name.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(name);
    let slug = slug(last.strip_suffix(".gguf").unwrap_or(last));
    let mut id = slug.clone();
    let mut number = 2;
    while !taken.insert(id.clone()) {
        let tail = format!("-{number}");
        let head: String = slug.chars().take(MAX_ID.saturating_sub(tail.len())).collect();
        id = head + &tail;
        number += 1;
    }
    id
}

/// A server's models as the text of roster entries, each good at these tasks.
pub(crate) fn entries(server: &Server, good_at: &[&str]) -> String {
    let mut text = format!("# {}\n", server.base_url);
    if server.models.is_empty() {
        text.push_str("# It answers and has no model: load one, and look again.\n");
    }
    for model in &server.models {
        // The values are written by the TOML library, which escapes what needs it.
        let string = |value: &str| toml::Value::from(value).to_string();
        let _ = write!(
            text,
            "\n[[backend]]\nid = {}\ntier = \"local\"\nkind = \"openai\"\nbase_url = {}\nmodel = {}\n",
            string(&model.id),
            string(server.base_url.as_str()),
            string(&model.name),
        );
        if model.is_embedding() {
            text.push_str("enabled = false          # its name says that it makes no text\n");
        }
        let good_at = toml::Value::from(good_at.to_vec());
        let _ = writeln!(text, "good_at = {good_at}\ncan_delegate = true");
    }
    text
}

#[cfg(test)]
mod tests {
    use roster::Roster;

    use super::*;

    #[test]
    fn what_is_printed_is_a_roster_whatever_the_models_are_called() {
        let mut taken = HashSet::new();
        let names = [
            "Qwen/Qwen3-32B",
            "other/qwen3-32b",
            "/models/gemma 3 \"it\".Q4_K_M.gguf",
            "llama3.2:latest",
            "nomic-embed-text",
            "日本語",
            "###",
        ];
        let models: Vec<Model> = names
            .iter()
            .map(|name| Model { id: id(name, &mut taken), name: (*name).to_owned() })
            .collect();
        let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "qwen3-32b",
                "qwen3-32b-2",
                "gemma-3-it-q4_k_m",
                "llama3-2-latest",
                "nomic-embed-text",
                "backend",
                "backend-2"
            ]
        );
        let server = Server { base_url: Url::parse(&url(8080)).unwrap(), models };
        let text = entries(&server, &["code"]);
        let roster = Roster::parse(&text).unwrap();
        let read: Vec<&str> = roster.backends().iter().map(roster::Backend::model).collect();
        assert_eq!(read, names);
        assert!(!roster.get("nomic-embed-text").unwrap().enabled);
        assert!(roster.get("qwen3-32b").unwrap().is_automatic());
    }

    #[test]
    fn a_long_name_still_has_an_id_of_its_own() {
        let mut taken = HashSet::new();
        let long = "x".repeat(200);
        let (one, two) = (id(&long, &mut taken), id(&long, &mut taken));
        assert!(one != two && one.len() == MAX_ID && two.ends_with("-2") && two.len() == MAX_ID);
    }
}
