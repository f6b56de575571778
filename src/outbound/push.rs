//! The live push: a message handed straight to a station's serve, so that a keeper sees it at once.
//! It is best effort; what counts is on the board.

use std::time::Duration;

use serde_json::json;
use url::Url;

use super::{Destination, Error, Outbound};

/// The usual time for a push.
pub const PUSH: Duration = Duration::from_secs(5);

/// The longest name of a sender, in characters.
const LONGEST_NAME: usize = 40;

/// What is pushed to a keeper.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// The text.
    pub text: &'a str,
    /// Who sends it: at most 40 characters of it are sent. Empty: `board`.
    pub from: &'a str,
}

/// What became of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// The station has the message: it took it (200, 202), or had it already (409).
    Taken,
    /// The station answered with another status.
    Declined {
        /// The HTTP status.
        status: u16,
    },
    /// No answer came.
    Failed(Error),
}

impl Outbound {
    /// Pushes a message to the serve at this URL, which a client registered: it is guarded, and
    /// carries no token. The time is [`PUSH`] unless there is a reason.
    pub async fn push(&self, serve_url: &str, message: Message<'_>, time: Duration) -> Pushed {
        let url = below(serve_url, &["api", "session", "message"]);
        let from = if message.from.is_empty() { "board" } else { message.from };
        let body = json!({
            "to": "keeper",
            "text": message.text,
            "from": from.chars().take(LONGEST_NAME).collect::<String>(),
            "by": "toolserver-push",
            "wait": false,
        });
        match self.post_json(Destination::Supplied(&url), &body, time).await {
            Ok(answer) => judge(answer.status),
            // The status is all that counts.
            Err(error) => error.status().map_or(Pushed::Failed(error), judge),
        }
    }
}

fn judge(status: u16) -> Pushed {
    match status {
        200 | 202 | 409 => Pushed::Taken,
        status => Pushed::Declined { status },
    }
}

/// A path below a URL. A text that is no URL stays what it is: it will be refused as such.
fn below(base: &str, path: &[&str]) -> String {
    let base = base.trim();
    let Ok(mut url) = Url::parse(base) else { return base.to_owned() };
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_goes_below_the_serve() {
        for (base, wanted) in [
            ("http://h.example", "http://h.example/api/message"),
            (" https://h.example:81/ ", "https://h.example:81/api/message"),
            ("http://h.example/serve", "http://h.example/serve/api/message"),
            ("http://h.example/serve/?a=b#c", "http://h.example/serve/api/message"),
            ("no url", "no url"),
            ("mailto:x", "mailto:x"),
        ] {
            assert_eq!(below(base, &["api", "message"]), wanted, "{base}");
        }
    }

    #[test]
    fn only_three_statuses_mean_taken() {
        for status in [200, 202, 409] {
            assert_eq!(judge(status), Pushed::Taken);
        }
        for status in [201, 204, 302, 400, 401, 404, 405, 429, 500, 503] {
            assert_eq!(judge(status), Pushed::Declined { status });
        }
    }
}
