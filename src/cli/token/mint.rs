//! `adjutant token mint`.

use clap::{Args, builder::PossibleValuesParser};
use mcp::Scope;
use serde_json::{Value, json};

use crate::cli::{Context, connect, exit::Error, output::Output};

fn scopes() -> PossibleValuesParser {
    PossibleValuesParser::new(Scope::ALL.map(Scope::as_str))
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant token mint ci-nightly --scope delegate --ttl 30d --budget 2.50
  adjutant token mint web-7 --scope write --locus web-7 --profile coder
  ADJUTANT_TOKEN=$(adjutant token mint reader --scope read) adjutant tools

The secret alone goes to standard output. It is kept nowhere and cannot be shown again. With --json: \
the server's reply, the secret as `token`.")]
pub(super) struct Mint {
    /// Its name, for records and logs; free again 90 days after the token's end
    name: String,
    /// What it may do; each scope includes those before it
    #[arg(long, value_name = "SCOPE", value_parser = scopes())]
    scope: String,
    /// The profile of the settings that says which tools it has [default: all of its scope]
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// A locus whose records it reaches; may be given more than once [default: all]
    #[arg(long, value_name = "LOCUS")]
    locus: Vec<String>,
    /// How long it stands, such as 12h or 30d [default: until it is revoked]
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    ttl: Option<std::time::Duration>,
    /// US dollars that it may spend on paid backends in a day of UTC; 0: nothing may be handed to any
    /// backend [default: no bound]
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    budget: Option<f64>,
}

/// Makes it.
pub(super) async fn run(args: Mint, cx: &Context) -> Result<(), Error> {
    let arguments = json!({
        "name": args.name,
        "scope": args.scope,
        "profile": args.profile,
        "loci": (!args.locus.is_empty()).then_some(args.locus),
        "ttl_s": args.ttl.map(|ttl| ttl.as_secs()),
        "budget_usd": args.budget,
    });
    let server = connect::server(cx).await?;
    let reply = server.call("token_mint", arguments).await.map_err(in_flags)?.value;
    let out = Output::new(&cx.env);
    if cx.globals.json {
        return out.json(&reply);
    }
    let word = |name: &str| reply.get(name).and_then(Value::as_str).unwrap_or_default();
    out.line(word("token"))?;
    let ends = match word("expires") {
        "" => "until it is revoked".to_owned(),
        expires => format!("until {expires}"),
    };
    out.note(format_args!("`{}` stands {ends}; its secret is shown this once", word("name")));
    Ok(())
}

/// The server's words with the flags for the arguments in them.
fn in_flags(mut error: Error) -> Error {
    for (argument, flag) in [
        ("`ttl_s`", "`--ttl` in seconds"),
        ("`budget_usd`", "`--budget`"),
        ("`loci`", "`--locus`"),
        ("leave `profile` out", "leave `--profile` out"),
    ] {
        error.message = error.message.replace(argument, flag);
    }
    error
}
