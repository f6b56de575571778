//! One try against an OpenAI-compatible server.

use std::time::{Duration, Instant};

use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION},
};
use roster::{Backend, OpenAi};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::{
    Answer, Failure, Kind, Request, Sent, Upstream,
    body::{Body, Nature},
    client, describe,
    fold::Fold,
    judge::{self, Asked},
    plain,
    redact::Redactor,
    request, retry_after, stream,
    timers::Timers,
};

/// The most bytes of an error's body that are read, and how long they are awaited.
const MAX_ERROR: usize = 64 * 1024;
const ERROR_WAIT: Duration = Duration::from_secs(5);

/// The longest partial text, in characters, and the bytes that are looked at for it.
const MAX_PARTIAL: usize = 2000;
const PARTIAL_BYTES: usize = 16 * 1024;

/// What all steps of one try share.
pub(super) struct Try<'a> {
    pub(super) backend: &'a Backend,
    pub(super) server: &'a OpenAi,
    pub(super) timers: Timers,
    pub(super) redactor: Redactor,
    key: Option<SecretString>,
}

impl<'a> Try<'a> {
    pub(super) async fn new(
        upstream: &Upstream,
        backend: &'a Backend,
        server: &'a OpenAi,
        deadline: Option<Instant>,
    ) -> Result<Self, Failure> {
        let timers = Timers::start(&backend.timeouts, deadline);
        let key = match &backend.key {
            Some(at) => Some(
                timers
                    .first(upstream.keys.read(at))
                    .await
                    .map_err(|expired| timers.failure(expired, Sent::No))??,
            ),
            None => None,
        };
        let redactor = Redactor::new(key.as_ref(), &server.headers);
        Ok(Self { backend, server, timers, redactor, key })
    }

    /// The headers of a request: ours, then the roster's over them.
    pub(super) fn headers(&self, accept: &'static str) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let bad = |name: &str| {
            let message = format!(
                "the header `{name}` of this backend cannot be sent; mend it in the roster"
            );
            Failure::new(Kind::Key, Sent::No, message)
        };
        if let Some(key) = &self.key {
            let value = format!("Bearer {}", key.expose_secret());
            let mut value = HeaderValue::try_from(value).map_err(|_| bad("authorization"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        for (name, value) in &self.server.headers {
            let header = HeaderName::try_from(name).map_err(|_| bad(name))?;
            let mut value = HeaderValue::try_from(value).map_err(|_| bad(name))?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(headers)
    }

    /// Sends and waits for the head of an answer.
    pub(super) async fn send(&self, request: reqwest::RequestBuilder) -> Result<Response, Failure> {
        match self.timers.first(request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.unsent(&error)),
            Err(expired) => Err(self.timers.failure(expired, Sent::Maybe)),
        }
    }

    fn unsent(&self, error: &reqwest::Error) -> Failure {
        let reason = client::root(error);
        let base = &self.server.base_url;
        if error.is_builder() {
            let message = format!("the request cannot be built: {reason}; check `base_url`");
            return Failure::new(Kind::Refused, Sent::No, message);
        }
        if !error.is_connect() {
            let message = format!("the connection to {base} ended before an answer: {reason}");
            return Failure::new(Kind::Closed, Sent::Maybe, message);
        }
        let message = match self.backend.timeouts.connect {
            Some(limit) if error.is_timeout() => format!(
                "no connection to {base} within {limit:?} (`timeouts.connect`); is the server reachable?"
            ),
            _ if error.is_dns() => {
                format!("no connection to {base}: {reason}; check the host in `base_url`")
            }
            _ if client::is_refused(error) => {
                format!("no connection to {base}: {reason}; is the server running?")
            }
            _ => format!("no connection to {base}: {reason}; check `base_url`"),
        };
        Failure::new(Kind::Connect, Sent::No, message)
    }

    /// What an answer with another status than success says, and what to do about it.
    pub(super) async fn refused(&self, response: Response, streamed: bool) -> Failure {
        let status = response.status();
        let retry_after = retry_after::read(response.headers());
        let location = response.headers().get(LOCATION).cloned();
        let mut body = Body::new(response);
        let bytes = self.error_body(&mut body).await;
        let said = describe::error_body(&body.content_type, &bytes, &self.redactor);
        let kind = match status.as_u16() {
            429 => Kind::RateLimited,
            408 | 500.. => Kind::Status,
            _ => Kind::Refused,
        };
        let remedy = match status {
            _ if status.is_redirection() => redirect(location.as_ref()),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => match &self.backend.key {
                Some(at) => format!("; check the key `{at}`"),
                None => "; set `key` in the roster entry".to_owned(),
            },
            StatusCode::NOT_FOUND => "; check `base_url` and `model`".to_owned(),
            _ if kind == Kind::Refused && streamed && mentions(&bytes, "stream_options") => {
                "; this server knows no `stream_options`: set `stream = false` in the roster entry"
                    .to_owned()
            }
            _ if kind == Kind::Refused && mentions(&bytes, "max_completion_tokens") => {
                "; set `extra = { max_completion_tokens = N }` in the roster entry".to_owned()
            }
            _ => String::new(),
        };
        Failure {
            status: Some(status.as_u16()),
            retry_after,
            ..Failure::new(kind, Sent::Answered, format!("status {status}: {said}{remedy}"))
        }
    }

    async fn error_body(&self, body: &mut Body) -> Vec<u8> {
        let mut bytes = Vec::new();
        let reading = async {
            while let Ok(Some(chunk)) = body.next().await {
                bytes.extend_from_slice(&chunk);
                if bytes.len() >= MAX_ERROR {
                    break;
                }
            }
        };
        // A body that stays away says nothing: the status is what counts.
        let _ = self.timers.at_most(Instant::now(), ERROR_WAIT, reading).await;
        bytes.truncate(MAX_ERROR);
        bytes
    }

    /// The beginning of a text, without secrets.
    fn partial(&self, text: &str) -> Option<String> {
        let start = &text[..text.floor_char_boundary(PARTIAL_BYTES)];
        let clean = self.redactor.text(start.to_owned());
        Some(describe::clip(&clean, MAX_PARTIAL)).filter(|text| !text.is_empty())
    }
}

/// Sends the request once and reads the whole answer.
pub(super) async fn call(
    upstream: &Upstream,
    backend: &Backend,
    server: &OpenAi,
    asked: &Request,
) -> Result<Answer, Failure> {
    let cx = Try::new(upstream, backend, server, asked.deadline).await?;
    let client = upstream.clients.to(&server.base_url, backend.timeouts.connect)?;
    let answer = attempt(&cx, &client, asked).await;
    answer.map(|answer| cx.redactor.answer(answer)).map_err(|failure| cx.redactor.failure(failure))
}

async fn attempt(cx: &Try<'_>, client: &Client, asked: &Request) -> Result<Answer, Failure> {
    let sent = request::body(cx.backend, cx.server, asked);
    let streamed = sent.stream;
    let accept = if streamed { "text/event-stream, application/json" } else { "application/json" };
    let url = request::url(&cx.server.base_url, "chat/completions");
    let request = client.post(url).headers(cx.headers(accept)?).body(sent.bytes);
    let response = cx.send(request).await?;
    if !response.status().is_success() {
        return Err(cx.refused(response, streamed).await);
    }
    let status = response.status().as_u16();
    let mut fold = Fold::default();
    let mut first_token = None;
    let read = read(cx, Body::new(response), &mut fold, &mut first_token).await;
    let prompt_bytes = request::prompt_bytes(asked);
    let judged = match read {
        Ok(()) => judge::judge(fold, Asked { model: &cx.server.model, prompt_bytes, first_token }),
        Err(failure) => Err(Failure {
            partial: Some(fold.text.as_str()).filter(|text| !text.is_empty()).map(str::to_owned),
            usage: fold.usage.is_some().then(|| judge::usage(&fold, prompt_bytes)),
            ..failure
        }),
    };
    judged.map_err(|failure| Failure {
        status: Some(status),
        partial: failure.partial.as_deref().and_then(|text| cx.partial(text)),
        ..failure
    })
}

/// Reads a successful answer of any nature, whatever was asked for.
async fn read(
    cx: &Try<'_>,
    mut body: Body,
    fold: &mut Fold,
    first_token: &mut Option<Duration>,
) -> Result<(), Failure> {
    let nature = match cx.timers.first(body.nature()).await {
        Ok(Ok(nature)) => nature,
        Ok(Err(error)) => {
            let reason = client::root(&error);
            let message = format!("the answer broke off ({reason}) after its head; ask again");
            return Err(Failure::new(Kind::Incomplete, Sent::Answered, message));
        }
        Err(expired) => return Err(cx.timers.failure(expired, Sent::Answered)),
    };
    match nature {
        Nature::Events => stream::read(&mut body, cx, fold, first_token).await,
        Nature::Html | Nature::Whole => plain::read(&mut body, cx, fold).await,
    }
}

fn mentions(body: &[u8], word: &str) -> bool {
    body.windows(word.len()).any(|window| window == word.as_bytes())
}

fn redirect(location: Option<&HeaderValue>) -> String {
    let target = location.and_then(|value| value.to_str().ok()).and_then(|text| {
        let mut url = Url::parse(text).ok()?;
        url.set_query(None);
        Some(describe::clip(url.as_str(), 100))
    });
    match target {
        Some(url) => {
            format!("; redirects are not followed: set `base_url` to where {url} is served")
        }
        None => "; redirects are not followed: set `base_url` to the final address".to_owned(),
    }
}
