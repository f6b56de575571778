use super::*;
use crate::outbound::resolve::System;

fn guard(allow: &[&str]) -> Guard {
    let allow: Vec<Allowed> = allow.iter().map(|text| text.parse().unwrap()).collect();
    Guard::new(&allow, Arc::new(System::new()))
}

/// Every spelling that has led such a check astray, and what it must say.
#[test]
fn urls_that_lead_inside_are_refused_however_they_are_written() {
    let guard = guard(&[]);
    for (url, what) in [
        // This machine.
        ("http://127.0.0.1/", "loopback"),
        ("https://127.0.0.1:8443/x?y=z", "loopback"),
        ("http://127.1/", "loopback"),
        ("http://127.0.0.1./", "loopback"),
        ("http://127.0.0.1:80", "loopback"),
        ("http://2130706433/", "loopback"),
        ("http://0x7f000001/", "loopback"),
        ("http://0x7f.0x0.0x0.0x1/", "loopback"),
        ("http://017700000001/", "loopback"),
        ("http://0177.0.0.1/", "loopback"),
        ("http://0177.0.0x0.1/", "loopback"),
        ("http://127.0.1/", "loopback"),
        ("http://%31%32%37.0.0.1/", "loopback"),
        ("http://①②⑦.⓪.⓪.①/", "loopback"),
        ("http://127。0。0。1/", "loopback"),
        ("HTTP://127.0.0.1/", "loopback"),
        ("http:127.0.0.1/", "loopback"),
        ("http:/127.0.0.1/", "loopback"),
        ("http:////127.0.0.1/", "loopback"),
        ("http://0/", "this machine"),
        ("http://0.0.0.0:7004/", "this machine"),
        ("http://0x0/", "this machine"),
        ("http://[::]/", "this machine"),
        ("http://[::1]:7004/", "loopback"),
        ("http://[0:0:0:0:0:0:0:1]/", "loopback"),
        ("http://[0000::0001]/", "loopback"),
        ("http://[::ffff:127.0.0.1]/", "loopback"),
        ("http://[::ffff:7f00:1]/", "loopback"),
        ("http://[0:0:0:0:0:FFFF:7F00:0001]/", "loopback"),
        ("http://[::127.0.0.1]/", "reserved"),
        ("http://[64:ff9b::7f00:1]/", "loopback"),
        ("http://[2002:7f00:1::]/", "relay"),
        // Private networks.
        ("http://10.0.0.1/", "private"),
        ("http://0xa000001/", "private"),
        ("http://012.0.0.1/", "private"),
        ("http://172.16.0.1/", "private"),
        ("http://192.168.1.1:8080/", "private"),
        ("http://3232235777/", "private"),
        ("http://100.64.0.1/", "private"),
        ("http://[fc00::1]/", "private"),
        ("http://[fd12:3456:789a::1]/", "private"),
        ("http://[::ffff:10.0.0.1]/", "private"),
        ("http://[64:ff9b::192.168.1.1]/", "private"),
        // Link-local, metadata.
        ("http://169.254.169.254/latest/meta-data/", "link-local"),
        ("http://2852039166/", "link-local"),
        ("http://0xa9fea9fe/", "link-local"),
        ("http://0251.0376.0251.0376/", "link-local"),
        ("http://[::ffff:169.254.169.254]/", "link-local"),
        ("http://[64:ff9b::a9fe:a9fe]/", "link-local"),
        ("http://[fe80::1]/", "link-local"),
        ("http://[fd00:ec2::254]/", "private"),
        ("http://168.63.129.16/", "metadata"),
        ("http://100.100.100.200/", "private"),
        // What else is no public address.
        ("http://255.255.255.255/", "reserved"),
        ("http://224.0.0.1/", "multicast"),
        ("http://[ff02::1]/", "multicast"),
        ("http://192.0.2.1/", "documentation"),
        ("http://[2001:db8::1]/", "documentation"),
        ("http://[2001:0:a9fe:a9fe::1]/", "reserved"),
        ("http://198.18.0.1/", "benchmarks"),
    ] {
        match guard.url(url) {
            Err(Error::Forbidden { what: found, .. }) => {
                assert!(found.contains(what), "{url}: {found}");
            }
            other => panic!("{url}: {other:?}"),
        }
    }
}

#[test]
fn urls_that_are_none_of_the_web_or_say_too_much_are_refused_without_being_repeated() {
    let guard = guard(&["0.0.0.0/0", "::/0"]);
    let long = format!("http://host.example/{}", "s3cret".repeat(400));
    for (url, why) in [
        ("file:///etc/s3cret", "scheme"),
        ("ftp://host.example/s3cret", "scheme"),
        ("gopher://127.0.0.1:6379/_s3cret", "scheme"),
        ("ws://host.example/s3cret", "scheme"),
        ("javascript:s3cret", "scheme"),
        ("data:text/plain,s3cret", "scheme"),
        ("unix:/run/s3cret.sock", "scheme"),
        ("http+unix://s3cret/", "scheme"),
        ("http://user:s3cret@host.example/", "user name"),
        ("http://s3cret@host.example/", "user name"),
        ("http://:s3cret@host.example/", "user name"),
        ("http://host.example@127.0.0.1/s3cret", "user name"),
        ("http://host.example:0/s3cret", "port 0"),
        ("http://host.example:65536/s3cret", "port"),
        ("http://host.example\\@127.0.0.1/s3cret", "backslashes"),
        ("http://host.example/\r\nx-s3cret: 1", "control characters"),
        ("http://127.0.0\t.1/s3cret", "control characters"),
        (" http://host.example/s3cret", "spaces"),
        ("http://host.example/s3 cret", "spaces"),
        ("http://1.2.3.4.5/s3cret", "IPv4"),
        ("http://256.0.0.1/s3cret", "IPv4"),
        ("http://0x1ffffffff/s3cret", "IPv4"),
        ("http://[::1/s3cret", "IPv6"),
        ("http://[fe80::1%25eth0]/s3cret", "IPv6"),
        ("http://", "host"),
        ("//host.example/s3cret", "base"),
        ("s3cret", "base"),
        ("", "base"),
        (&long, "2,048"),
    ] {
        match guard.url(url) {
            Err(error @ Error::Url(_)) => {
                let words = error.to_string();
                assert!(words.contains(why) && !words.contains("s3cret"), "{url}: {words}");
            }
            other => panic!("{url}: {other:?}"),
        }
    }
}

#[test]
fn public_urls_pass_and_keep_their_parts() {
    let guard = guard(&[]);
    for (url, wanted) in [
        ("http://8.8.8.8/hook", "http://8.8.8.8/hook"),
        ("https://host.example:8443/a?b=c", "https://host.example:8443/a?b=c"),
        ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/"),
        ("http://[::ffff:8.8.8.8]/", "http://[::ffff:808:808]/"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://Host.Example./", "http://host.example./"),
        // Whether these names are public is told where they are resolved.
        ("http://localhost/", "http://localhost/"),
        ("http://127.0.0.1.nip.example/", "http://127.0.0.1.nip.example/"),
    ] {
        assert_eq!(guard.url(url).unwrap().as_str(), wanted);
    }
}

#[test]
fn the_operator_may_allow_networks_and_hosts() {
    let guard = guard(&["10.0.0.0/8", "fd00::/8", "station.example"]);
    for url in ["http://10.1.2.3/", "http://[::ffff:10.1.2.3]/", "http://[64:ff9b::10.1.2.3]/"] {
        guard.url(url).unwrap();
    }
    guard.url("http://[fd00::1]/").unwrap();
    for url in ["http://127.0.0.1/", "http://192.168.0.1/", "http://[fc00::1]/", "http://[::1]/"] {
        assert!(matches!(guard.url(url), Err(Error::Forbidden { .. })), "{url}");
    }
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    let loopback = [address("127.0.0.1")];
    assert_eq!(guard.admit("station.example", &loopback), Ok(()));
    assert_eq!(guard.admit("station.example.", &loopback), Ok(()));
    for host in ["a.station.example", "station.example.evil.example", "localhost"] {
        assert_eq!(guard.admit(host, &loopback), Err(Forbidden("a loopback address")), "{host}");
    }
}

#[test]
fn one_address_inside_condemns_a_name() {
    let guard = guard(&["10.0.0.0/8"]);
    let addresses = |all: &[&str]| all.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>();
    let admit = |all: &[&str]| guard.admit("host.example", &addresses(all));
    assert_eq!(admit(&["8.8.8.8", "10.0.0.1", "2606:4700::1111"]), Ok(()));
    assert!(admit(&["8.8.8.8", "127.0.0.1"]).is_err());
    assert!(admit(&["2606:4700::1111", "::ffff:127.0.0.1"]).is_err());
    assert!(admit(&["8.8.8.8", "64:ff9b::a9fe:a9fe"]).is_err());
}
