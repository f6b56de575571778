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
    Short { name: "ADJUTANT_DATABASE_URL", key: "store.database_url" },
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

const OWN_RECORDS: Now = Now::Unread("this server keeps the records itself");
const NO_JUDGE: Now =
    Now::Unread("exchanges are rolled up by rules: there is no fold by a model here");

/// The names of the programs that came before, in the order of the reference. Of several that set
/// one key, the first counts.
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
    ("HUGPY_LOCUS", Now::Unread("each call names its locus")),
    ("TOOLSERVER_DATABASE_URL", Now::Instead("`ADJUTANT_DATABASE_URL`, for PostgreSQL alone")),
    ("TOOLSERVER_STORE", OWN_RECORDS),
    ("TOOLSERVER_HUB_URL", OWN_RECORDS),
    ("TOOLSERVER_HUB_TOKEN", OWN_RECORDS),
    ("TOOLSERVER_LOCUS", Now::Unread("each call names its locus")),
    ("TOOLSERVER_SESSION_ID", Now::Read("by the stdio bridge: the session that runs it")),
    (
        "TOOLSERVER_SELF_SSH",
        Now::Read("by the stdio bridge: where its session runs, `user@host[:port]`"),
    ),
    ("TOOLSERVER_SELF_USER", Now::Read("by the stdio bridge: the login of its session")),
    ("TOOLSERVER_SELF_HOST", Now::Read("by the stdio bridge: the host of its session")),
    ("TOOLSERVER_SELF_MACHINE", Now::Read("by the stdio bridge: what its machine is called")),
    ("TOOLSERVER_DEFAULT_LOCI", Now::Key("loci.default")),
    ("TOOLSERVER_STATION_USER", Now::Key("loci.station_user")),
    ("TOOLSERVER_PROMPT_INBOX", Now::Unread("prompts are kept below the data directory")),
    ("TOOLSERVER_BOARD_FORMAT", Now::Key("board.format")),
    ("TOOLSERVER_TODO_REQUIRE_LOCUS", Now::Unread("an item is always on somebody's board")),
    ("TOOLSERVER_SSE_MAX_S", Now::Unread("a stream has no end of life")),
    ("TOOLSERVER_HEARTBEAT_MIN_S", Now::Unread("no client offers tools here")),
    ("TOOLSERVER_ROLL_PENDING_TTL", Now::Unread("a rollover waits half an hour for its handoff")),
    (
        "TOOLSERVER_TIMEOUT",
        Now::Instead("a backend's `timeouts` in the roster, or a call's `timeout_s`"),
    ),
    ("TOOLSERVER_MCP_NOCACHE", Now::Unread("the bridge caches no tools")),
    ("TOOLSERVER_B_MODEL", Now::Key("b.model")),
    ("HANDOFF_POLISH_MODEL", Now::Key("b.model")),
    ("HANDOFF_JUDGE_MODEL", Now::Key("b.model")),
    ("TOOLSERVER_B_TIMEOUT", Now::Instead("a backend's `timeouts` in the roster")),
    ("TOOLSERVER_B_MAX_CHARS", Now::Instead("`limits.context_tokens` of a backend in the roster")),
    ("HANDOFF_JUDGE_NOTHINK", Now::Instead("`extra` of a backend in the roster")),
    ("HANDOFF_REDUCER", NO_JUDGE),
    ("HANDOFF_CHUNK_TOKENS", NO_JUDGE),
    ("HANDOFF_POLISH", Now::Key("rolling.polish")),
    ("HANDOFF_POLISH_MODEL", Now::Key("rolling.polish_model")),
    ("HANDOFF_POLISH_TIMEOUT", Now::Unread("a wording has half a minute")),
    ("ASSESS_AUTOFILE", Now::Key("assess.autofile")),
    ("ASSESS_AUTOFILE_LOCI", Now::Key("assess.autofile_loci")),
    (
        "ASSESS_PROMPT_ONLY",
        Now::Unread("what is asked for is told from the operator's words alone"),
    ),
    ("HANDOFF_SPAWN_URL", Now::Key("station.spawn_url")),
    ("HANDOFF_SPAWN_TOKEN", Now::Key("station.spawn_token")),
    ("AC_MCP_MODE", Now::Unread("`tools/list` shows the core tools, `?mode=flat` all")),
    ("AC_MCP_GOVERNOR", Now::Key("results.clip")),
    ("AC_MCP_RESULT_MAX_BYTES", Now::Key("results.bytes")),
    ("AC_MCP_RESULT_MAX_LINES", Now::Key("results.lines")),
    ("AC_MCP_GOVERNOR_EXEMPT", Now::Key("results.exempt")),
    ("AC_MCP_IMAGES", Now::Unread("no tool answers with images")),
    ("AC_MCP_IMAGE_MAX_BYTES", Now::Unread("no tool answers with images")),
];
