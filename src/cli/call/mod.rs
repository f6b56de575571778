//! `adjutant call`: any tool by name.

mod arguments;

use clap::Args;
use serde_json::{Value, json};

use super::{
    Context, Run, connect,
    exit::{Error, Exit},
    output::Output,
    progress::Spinner,
    stop,
};
use crate::untrusted;

/// Call any tool by name
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adjutant call delegate_targets task=code
  adjutant call delegate prompt='Say hi' max_tokens=20 explain=true
  adjutant call delegate_many tasks:='[{\"prompt\": \"one\"}, {\"prompt\": \"two\"}]'
  adjutant call delegate --args @arguments.json
  echo '{\"prompt\": \"Say hi\"}' | adjutant call delegate --args -

`key=value` gives text, which the server turns into a number, a boolean, a list or an object where \
the tool's schema wants one. `key:=JSON` gives JSON as it is. `adjutant tools CATEGORY` names the \
arguments of each tool. The reply is printed as JSON; one that is a bare text is printed as it is, \
and as JSON with --json.")]
pub(crate) struct Call {
    /// The tool's name, as `adjutant tools` shows it
    tool: String,
    /// An argument of the tool: `key=text` or `key:=JSON`
    #[arg(value_name = "KEY=VALUE")]
    arguments: Vec<String>,
    /// The arguments as one JSON object, `@FILE` or `-` for standard input; `key=value` goes over it
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    args: Option<String>,
}

impl Run for Call {
    async fn run(self, cx: Context) -> Result<(), Error> {
        let arguments = arguments::read(&self.arguments, self.args.as_deref())?;
        let called = async {
            let server = connect::server(&cx).await?;
            // By name and not by route: what was typed is then no part of a URL.
            let arguments = match self.tool.as_str() {
                "ts_call" => Value::Object(arguments),
                name => json!({ "name": name, "arguments": arguments }),
            };
            server.call("ts_call", arguments).await
        };
        let spinner = Spinner::new(format!("calling {}", untrusted::one_line(&self.tool, 60)));
        let reply = stop::on_interrupt(spinner.during(called)).await?;
        let out = Output::new(&cx.env);
        for warning in &reply.warnings {
            out.warn(untrusted::one_line(warning, 400));
        }
        match (&reply.value, cx.globals.json) {
            (Value::String(text), false) => out.text(text)?,
            (value, _) => out.json(value)?,
        }
        match reply.value.get("status").and_then(Value::as_str) {
            Some("no_fit") => Err(Error::new(Exit::NoFit, "")),
            _ if is_partial(&reply.value) => Err(Error::new(Exit::Partial, "")),
            _ => Ok(()),
        }
    }
}

/// Whether a reply says of itself that part of what it was asked failed.
fn is_partial(reply: &Value) -> bool {
    let failed = reply.get("failed").and_then(Value::as_u64).unwrap_or_default();
    failed > 0 && reply.get("ok") == Some(&Value::Bool(false))
}
