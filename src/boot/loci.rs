//! The loci that are registered at the start: those of the settings, else the machine itself.

use std::{
    net::{IpAddr, Ipv4Addr, UdpSocket},
    path::Path,
    sync::Arc,
};

use anyhow::Context as _;

use super::Failure;
use crate::{
    config::{DefaultLocus, Env, Loci},
    files,
    store::{
        Error, Store,
        locus::{self, Endpoint, Record, Registration},
        names::Keeper,
    },
};

/// The accounts of the machine, and the most that is read of them, in bytes.
const ACCOUNTS: &str = "/etc/passwd";
const MOST: u64 = 4 * 1024 * 1024;

/// Registers them where their names are free, and gives what stands under each.
///
/// # Errors
/// [`Failure::Setting`] for an entry that cannot be a locus; [`Failure::Other`] when the records
/// cannot be written.
pub(super) async fn register(
    store: &Store,
    settings: &Loci,
    env: &Env,
) -> Result<Arc<[Record]>, Failure> {
    let named = settings.default.iter().map(named).collect::<Result<Vec<_>, _>>();
    let named = named.map_err(|error| Failure::Setting(format!("`loci.default`: {error}")))?;
    let machine = if named.is_empty() && settings.machine {
        let accounts = files::read_text(Path::new(ACCOUNTS), MOST).unwrap_or_default();
        logins(settings, env, &accounts)
    } else {
        Vec::new()
    };
    let mut records = Vec::new();
    for (place, registration) in &named {
        let record = locus::default(store, registration).await;
        let record = record.context("a locus of the settings cannot be registered")?;
        if !record.stands_for(place) {
            tracing::warn!(locus = %record.locus, %place, "the locus `{}` is registered with another endpoint than `loci.default` has: it is left as it is", record.locus);
        }
        records.push(record);
    }
    let host = address();
    for login in machine {
        let Ok(place) = Endpoint::new(&login, &host.to_string(), 22) else { continue };
        match locus::machine(store, &place, "").await {
            Ok(record) => records.push(record),
            Err(error @ Error::Conflict(_)) => tracing::warn!("{error}"),
            Err(error) => return Err(anyhow::Error::from(error).context("the machine").into()),
        }
    }
    Ok(records.into())
}

fn named(entry: &DefaultLocus) -> Result<(Endpoint, Registration), String> {
    let locus = Keeper::parse(&entry.name).map_err(|error| error.to_string())?;
    let place: Endpoint = entry.endpoint.parse().map_err(|error: Error| error.to_string())?;
    let registration = Registration::of_machine(locus, &place, &entry.goal);
    registration.check().map_err(|error| error.to_string())?;
    Ok((place, registration))
}

/// The logins that the machine is registered for: the station's where there is such an account,
/// and the server's own.
fn logins(settings: &Loci, env: &Env, accounts: &str) -> Vec<String> {
    let uid = rustix::process::geteuid().as_raw().to_string();
    let accounts = accounts.lines().filter_map(|line| {
        let mut parts = line.split(':');
        Some((parts.next()?, parts.nth(1)?))
    });
    let accounts: Vec<(&str, &str)> = accounts.collect();
    let station = settings.station_user.trim();
    let has_station = accounts.iter().any(|(name, _)| *name == station);
    let own = ["LOGNAME", "USER"].into_iter().find_map(|name| env.get(name));
    let own =
        own.or_else(|| accounts.iter().find(|(_, number)| *number == uid).map(|(name, _)| *name));
    let mut logins: Vec<String> =
        has_station.then_some(station).into_iter().chain(own).map(str::to_owned).collect();
    logins.dedup();
    logins
}

/// The address by which the machine reaches others. Nothing is sent: a datagram socket that is
/// connected only looks the route up, and these networks are for documentation.
fn address() -> IpAddr {
    let towards = |from: &str, to: &str| {
        let socket = UdpSocket::bind(from).ok()?;
        socket.connect(to).ok()?;
        let address = socket.local_addr().ok()?.ip();
        (!address.is_unspecified()).then_some(address)
    };
    towards("0.0.0.0:0", "192.0.2.1:9")
        .or_else(|| towards("[::]:0", "[2001:db8::1]:9"))
        .unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logins_are_the_stations_where_there_is_one_and_the_servers_own() {
        let uid = rustix::process::geteuid().as_raw();
        let accounts = format!("vm_mgr:x:1:1::/:/bin/sh\nserver:x:{uid}:1::/:/bin/sh\nodd\n");
        let settings = Loci::default();
        let none = Env::default();
        assert_eq!(logins(&settings, &none, &accounts), ["vm_mgr", "server"]);
        let dana = Env::of([("USER", "dana")]);
        assert_eq!(logins(&settings, &dana, "root:x:0:0::/:/bin/sh\n"), ["dana"]);
        assert_eq!(logins(&settings, &Env::of([("LOGNAME", "vm_mgr")]), &accounts), ["vm_mgr"]);
        assert_eq!(logins(&settings, &none, ""), [""; 0]);
        let other = Loci { station_user: String::new(), ..Loci::default() };
        assert_eq!(logins(&other, &none, &accounts), ["server"]);
        assert!(!address().is_unspecified());
    }

    #[test]
    fn an_entry_that_cannot_be_a_locus_is_refused_with_the_reason() {
        let of = |text: &str| named(&text.parse().unwrap());
        let (place, registration) = of("home_box=me@127.0.0.1|the machine itself").unwrap();
        assert_eq!(
            (place.to_string(), registration.locus.as_str()),
            ("me@127.0.0.1:22".to_owned(), "home-box")
        );
        for (text, says) in [
            ("a.b=me@h", "must match"),
            ("a=-x@h", "user@host[:port]"),
            ("a=me@h:0", "user@host[:port]"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        let long = format!("a=me@h|{}", "g".repeat(401));
        assert!(of(&long).unwrap_err().contains("400"));
    }
}
