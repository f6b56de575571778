//! The names by which settings go in the environment besides `ADJUTANT__SECTION__KEY`: short ones,
//! and those of the programs that came before.

/// A short name of a setting.
pub(super) struct Short {
    pub(super) name: &'static str,
    pub(super) key: &'static str,
}

/// The short names. They count more than an older name and less than `ADJUTANT__SECTION__KEY`.
pub(super) const SHORT: &[Short] = &[
    Short { name: "ADJUTANT_DATA_DIR", key: "files.data_dir" },
    Short { name: "ADJUTANT_ROSTER", key: "files.roster" },
    Short { name: "ADJUTANT_OPERATOR_TOKEN", key: "auth.operator_token" },
    Short { name: "ADJUTANT_IDLE_EXIT", key: "server.idle_exit" },
    Short { name: "ADJUTANT_LOG", key: "log.filter" },
];

/// Names that are read in the environment and are no settings of the server.
pub(super) const OTHER: &[(&str, &str)] = &[
    (
        "ADJUTANT_CONFIG",
        "The settings file; it must exist. Absent: `adjutant.toml` in `$XDG_CONFIG_HOME/adjutant`, else in `~/.config/adjutant`; that one may be missing.",
    ),
    (
        "ADJUTANT_URL",
        "For the commands and the stdio bridge: the server to talk to, instead of the one found through `<data dir>/endpoint.json`.",
    ),
    ("ADJUTANT_TOKEN", "For the commands and the stdio bridge: the token for `ADJUTANT_URL`."),
];

/// What became of an older name.
pub(super) enum Now {
    /// It sets this key.
    Key(&'static str),
    /// It is read, in this way.
    Read(&'static str),
    /// It is not read; this stands in its place.
    Instead(&'static str),
    /// It is not read, for this reason.
    Unread(&'static str),
}

const NO_RECORDS: Now = Now::Unread("this server keeps no shared records");
const NO_HANDOFF: Now = Now::Unread("this server hands no sessions off");

/// The names of the programs that came before, in the order of the reference.
pub(super) const OLDER: &[(&str, Now)] = &[
    ("TOOLSERVER_HOST", Now::Read("the host of `server.listen`")),
    ("TOOLSERVER_PORT", Now::Read("the port of `server.listen`")),
    ("TOOLSERVER_OPERATOR_TOKEN", Now::Key("auth.operator_token")),
    ("HUGPY_BASE", Now::Read("without a roster file: one local backend `hugpy` at this URL")),
    ("HUGPY_API_KEY", Now::Read("the key of the backend that `HUGPY_BASE` makes")),
    ("HUGPY_URL", Now::Instead("`HUGPY_BASE`, or a roster")),
    ("TOOLSERVER_URL", Now::Instead("`ADJUTANT_URL`")),
    ("TOOLSERVER_TOKEN", Now::Instead("`ADJUTANT_TOKEN`")),
    ("TOOLSERVER_AUTH", Now::Instead("`ADJUTANT_TOKEN`")),
    ("TOOLSERVER_SESSION_KEY", Now::Instead("`ADJUTANT_TOKEN`")),
    ("HUGPY_TOOLSERVER_URL", Now::Instead("`ADJUTANT_URL`")),
    ("HUGPY_TOOLSERVER_TOKEN", Now::Instead("`ADJUTANT_TOKEN`")),
    (
        "HUGPY_OPERATOR_TOKEN",
        Now::Instead("`ADJUTANT_OPERATOR_TOKEN` for the server, `ADJUTANT_TOKEN` for its clients"),
    ),
    ("ABSTRACT_TOOLSERVER_HOME", Now::Instead("`ADJUTANT_DATA_DIR` and `ADJUTANT_CONFIG`")),
    (
        "TOOLSERVER_ENDPOINTS_TOKEN",
        Now::Instead("the token in a header: none is taken from a query string"),
    ),
    ("HUGPY_INTROSPECT_URL", Now::Unread("tokens are known to this server alone")),
    ("HUGPY_LOCUS", NO_RECORDS),
    ("TOOLSERVER_DATABASE_URL", NO_RECORDS),
    ("TOOLSERVER_STORE", NO_RECORDS),
    ("TOOLSERVER_HUB_URL", NO_RECORDS),
    ("TOOLSERVER_HUB_TOKEN", NO_RECORDS),
    ("TOOLSERVER_LOCUS", NO_RECORDS),
    ("TOOLSERVER_DEFAULT_LOCI", NO_RECORDS),
    ("TOOLSERVER_SESSION_ID", NO_RECORDS),
    ("TOOLSERVER_PROMPT_INBOX", NO_RECORDS),
    ("TOOLSERVER_BOARD_FORMAT", NO_RECORDS),
    ("TOOLSERVER_TODO_REQUIRE_LOCUS", NO_RECORDS),
    ("TOOLSERVER_SSE_MAX_S", NO_RECORDS),
    ("TOOLSERVER_HEARTBEAT_MIN_S", NO_RECORDS),
    ("TOOLSERVER_ROLL_PENDING_TTL", NO_RECORDS),
    (
        "TOOLSERVER_TIMEOUT",
        Now::Instead("a backend's `timeouts` in the roster, or a call's `timeout_s`"),
    ),
    ("TOOLSERVER_MCP_NOCACHE", Now::Unread("the bridge caches no tools")),
    ("TOOLSERVER_B_MODEL", Now::Instead("a backend of the roster")),
    ("TOOLSERVER_B_TIMEOUT", Now::Instead("a backend's `timeouts` in the roster")),
    ("TOOLSERVER_B_MAX_CHARS", Now::Instead("`limits.context_tokens` of a backend in the roster")),
    ("HANDOFF_JUDGE_MODEL", Now::Instead("a backend of the roster")),
    ("HANDOFF_POLISH_MODEL", Now::Instead("a backend of the roster")),
    ("HANDOFF_JUDGE_NOTHINK", Now::Instead("`extra` of a backend in the roster")),
    ("HANDOFF_REDUCER", NO_HANDOFF),
    ("HANDOFF_POLISH", NO_HANDOFF),
    ("HANDOFF_CHUNK_TOKENS", NO_HANDOFF),
    ("HANDOFF_SPAWN_URL", NO_HANDOFF),
    ("HANDOFF_SPAWN_TOKEN", NO_HANDOFF),
    ("AC_MCP_MODE", Now::Unread("`tools/list` shows the core tools, `?mode=flat` all")),
    ("AC_MCP_GOVERNOR", Now::Unread("results are not clipped yet")),
    ("AC_MCP_RESULT_MAX_BYTES", Now::Unread("results are not clipped yet")),
    ("AC_MCP_RESULT_MAX_LINES", Now::Unread("results are bounded by their bytes")),
    ("AC_MCP_GOVERNOR_EXEMPT", Now::Unread("no tool is exempt")),
    ("AC_MCP_IMAGES", Now::Unread("no tool answers with images")),
    ("AC_MCP_IMAGE_MAX_BYTES", Now::Unread("no tool answers with images")),
];
