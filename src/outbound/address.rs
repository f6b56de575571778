//! What an address is: public, or what else. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// The IPv4 networks that are not public, with what they are: the registry of special addresses
/// (RFC 6890 and its followers), and one that a cloud keeps for its machines' metadata.
const V4: &[(Ipv4Net, &str)] = &[
    (v4(0, 0, 0, 0, 8), "an address of this machine"),
    (v4(10, 0, 0, 0, 8), "a private network"),
    (v4(100, 64, 0, 0, 10), "a carrier's private network"),
    (v4(127, 0, 0, 0, 8), "a loopback address"),
    (v4(168, 63, 129, 16, 32), "a cloud's metadata service"),
    (v4(169, 254, 0, 0, 16), "a link-local address"),
    (v4(172, 16, 0, 0, 12), "a private network"),
    (v4(192, 0, 0, 0, 24), "a reserved address"),
    (v4(192, 0, 2, 0, 24), "an address for documentation"),
    (v4(192, 88, 99, 0, 24), "a relay between IPv4 and IPv6"),
    (v4(192, 168, 0, 0, 16), "a private network"),
    (v4(198, 18, 0, 0, 15), "a network for benchmarks"),
    (v4(198, 51, 100, 0, 24), "an address for documentation"),
    (v4(203, 0, 113, 0, 24), "an address for documentation"),
    (v4(224, 0, 0, 0, 4), "a multicast address"),
    (v4(240, 0, 0, 0, 4), "a reserved address"),
];

/// As [`V4`], for IPv6. The last entries are within [`PUBLIC_V6`]; the others have names for the
/// sake of the message.
const V6: &[(Ipv6Net, &str)] = &[
    (v6(0, 0, 128), "an address of this machine"),
    (Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128), "a loopback address"),
    (v6(0xfe80, 0, 10), "a link-local address"),
    (v6(0xfec0, 0, 10), "a private network"),
    (v6(0xfc00, 0, 7), "a private network"),
    (v6(0xff00, 0, 8), "a multicast address"),
    // Among them Teredo, whose addresses hide an IPv4 one.
    (v6(0x2001, 0, 23), "a reserved address"),
    (v6(0x2001, 0xdb8, 32), "an address for documentation"),
    (v6(0x2002, 0, 16), "a relay between IPv4 and IPv6"),
    (v6(0x3fff, 0, 20), "an address for documentation"),
];

/// All public IPv6 addresses are in here.
const PUBLIC_V6: Ipv6Net = v6(0x2000, 0, 3);

/// IPv6 addresses that a translator (NAT64) makes of IPv4 ones.
const TRANSLATED: Ipv6Net = v6(0x64, 0xff9b, 96);

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(a: u16, b: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), length)
}

/// The address that packets end up at: the IPv4 one behind an IPv6 one that merely stands for it.
pub(super) fn effective(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) if TRANSLATED.contains(&six) => {
            let [.., a, b, c, d] = six.octets();
            Ipv4Addr::new(a, b, c, d).into()
        }
        address => address.to_canonical(),
    }
}

/// What an address is, in words, when it is not public. It must be [`effective`].
pub(super) fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(four) => V4.iter().find(|(net, _)| net.contains(&four)).map(|(_, what)| *what),
        IpAddr::V6(six) => match V6.iter().find(|(net, _)| net.contains(&six)) {
            Some((_, what)) => Some(what),
            None if PUBLIC_V6.contains(&six) => None,
            None => Some("a reserved address"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(text: &str) -> Option<&'static str> {
        not_public(effective(text.parse().unwrap()))
    }

    #[test]
    fn public_addresses_are_public_up_to_the_edges_of_what_is_not() {
        for text in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::",
            "2001:4860:4860::8888",
            "2003::1",
            "2606:4700::1111",
            "3ffe::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
        ] {
            assert_eq!(judge(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_not_public_is_named() {
        for (text, what) in [
            ("0.0.0.0", "this machine"),
            ("0.255.255.255", "this machine"),
            ("10.255.255.255", "private"),
            ("100.100.100.200", "private"),
            ("127.255.255.254", "loopback"),
            ("168.63.129.16", "metadata"),
            ("169.254.169.254", "link-local"),
            ("172.31.255.255", "private"),
            ("192.0.0.192", "reserved"),
            ("192.88.99.1", "relay"),
            ("192.168.0.1", "private"),
            ("198.19.255.255", "benchmarks"),
            ("203.0.113.7", "documentation"),
            ("239.255.255.250", "multicast"),
            ("255.255.255.255", "reserved"),
            ("::", "this machine"),
            ("::1", "loopback"),
            ("::127.0.0.1", "reserved"),
            ("::ffff:127.0.0.1", "loopback"),
            ("::ffff:0:127.0.0.1", "reserved"),
            ("::ffff:a9fe:a9fe", "link-local"),
            ("64:ff9b::10.0.0.1", "private"),
            ("64:ff9b::a9fe:a9fe", "link-local"),
            ("64:ff9b:1::8.8.8.8", "reserved"),
            ("100::1", "reserved"),
            ("2001::1", "reserved"),
            ("2001:0:a9fe:a9fe::1", "reserved"),
            ("2001:db8::1", "documentation"),
            ("2002:7f00:1::", "relay"),
            ("2002:808:808::", "relay"),
            ("3fff::1", "documentation"),
            ("5f00::1", "reserved"),
            ("fc00::1", "private"),
            ("fd00:ec2::254", "private"),
            ("fe80::1", "link-local"),
            ("fec0::1", "private"),
            ("ff02::1", "multicast"),
        ] {
            let found = judge(text).unwrap_or_else(|| panic!("{text} passes for public"));
            assert!(found.contains(what), "{text}: {found}");
        }
    }
}
