//! Which addresses may be contacted: the globally reachable ones, and those that the config names.
//!
//! In: an address that a name resolved to or that a URL holds, and the allow list. Out: leave, or
//! a reason without the address, since error texts reach people whom internal addresses do not
//! concern.
//!
//! The tables are the IANA special-purpose registries (IPv4 and IPv6, as of 2025); outside of
//! them an IPv6 address must be in `2000::/3`. An IPv6 address that carries an IPv4 address is held
//! to what that one may do as well, since a gateway may lead there. What hands out the
//! credentials of a cloud machine is refused whatever the allow list says.
//!
//! It resolves no names; whoever does has every answer checked and connects to no other.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// Why an address may not be contacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusedAddress {
    /// It is not globally reachable, and the config does not name it.
    #[error("the address is not public; `fetch.allow_private` can name it")]
    NotPublic,
    /// It serves the metadata and credentials of a cloud machine.
    #[error("the address serves cloud metadata, which is never fetched")]
    CloudMetadata,
}

/// Which addresses may be contacted.
#[derive(Clone, Debug, Default)]
pub struct AddressPolicy {
    allow: Vec<IpNet>,
}

impl AddressPolicy {
    /// Makes a policy that also admits the networks in `allow`.
    ///
    /// An entry admits the form of address that it is written in: 127.0.0.0/8 does not admit
    /// `::ffff:127.0.0.1`.
    pub fn new(allow: Vec<IpNet>) -> Self {
        Self { allow }
    }

    /// Checks `ip`.
    ///
    /// # Errors
    ///
    /// Fails where `ip` must not be contacted.
    pub fn check(&self, ip: IpAddr) -> Result<(), RefusedAddress> {
        if is_metadata(ip) {
            return Err(RefusedAddress::CloudMetadata);
        }
        if is_global(ip) || self.allow.iter().any(|net| net.contains(&ip)) {
            return Ok(());
        }
        Err(RefusedAddress::NotPublic)
    }
}

/// IPv4 networks that are not globally reachable.
const REFUSED_V4: &[Ipv4Net] = &[
    v4([0, 0, 0, 0], 8),       // this network
    v4([10, 0, 0, 0], 8),      // private
    v4([100, 64, 0, 0], 10),   // shared: carrier-grade NAT
    v4([127, 0, 0, 0], 8),     // loopback
    v4([169, 254, 0, 0], 16),  // link local
    v4([172, 16, 0, 0], 12),   // private
    v4([192, 0, 0, 0], 24),    // protocol assignments
    v4([192, 0, 2, 0], 24),    // documentation
    v4([192, 88, 99, 0], 24),  // 6to4 relays, deprecated
    v4([192, 168, 0, 0], 16),  // private
    v4([198, 18, 0, 0], 15),   // benchmarks
    v4([198, 51, 100, 0], 24), // documentation
    v4([203, 0, 113, 0], 24),  // documentation
    v4([224, 0, 0, 0], 4),     // multicast
    v4([240, 0, 0, 0], 4),     // reserved, and the broadcast address
];

/// Networks inside of [`REFUSED_V4`] that are globally reachable all the same.
const REACHABLE_V4: &[Ipv4Net] = &[
    v4([192, 0, 0, 9], 32),  // port control protocol anycast
    v4([192, 0, 0, 10], 32), // TURN anycast
];

/// IPv6 networks inside of `2000::/3` that are not globally reachable.
const REFUSED_V6: &[Ipv6Net] = &[
    v6([0x2001, 0, 0, 0], 23), // protocol assignments: Teredo, benchmarks, ORCHID …
    v6([0x2001, 0xdb8, 0, 0], 32), // documentation
    v6([0x2002, 0, 0, 0], 16), // 6to4, deprecated
    v6([0x3fff, 0, 0, 0], 20), // documentation
];

/// Networks that are globally reachable, although inside of [`REFUSED_V6`] or outside of
/// `2000::/3`.
const REACHABLE_V6: &[Ipv6Net] = &[
    NAT64,
    last([0x2001, 1, 0, 0], 1),    // port control protocol anycast
    last([0x2001, 1, 0, 0], 2),    // TURN anycast
    last([0x2001, 1, 0, 0], 3),    // DNS-SD service registration anycast
    v6([0x2001, 3, 0, 0], 32),     // AMT
    v6([0x2001, 4, 0x112, 0], 48), // AS112
    v6([0x2001, 0x20, 0, 0], 28),  // ORCHIDv2
    v6([0x2001, 0x30, 0, 0], 28),  // drone remote identification
];

/// Addresses in use on the internet (RFC 4291 §2.4, by IANA's allocations).
const GLOBAL_UNICAST: Ipv6Net = v6([0x2000, 0, 0, 0], 3);

/// Translation to IPv4 (RFC 6052), globally reachable where the IPv4 address is.
const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0, 0], 96);

/// Where cloud machines get metadata and credentials: Amazon, Azure, Google and others, Oracle,
/// Alibaba; then the container services of Amazon.
const METADATA: &[IpAddr] = &[
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
];

const fn v4([a, b, c, d]: [u8; 4], prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6([a, b, c, d]: [u16; 4], prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0), prefix)
}

/// A single address: `segments`, zeros, `last`.
const fn last([a, b, c, d]: [u16; 4], last: u16) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, 0, 0, 0, last), 128)
}

fn is_metadata(ip: IpAddr) -> bool {
    METADATA.contains(&ip)
        || matches!(ip, IpAddr::V6(ip) if carried(ip).any(|ip| METADATA.contains(&ip.into())))
}

fn is_global(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_global_v4(ip),
        IpAddr::V6(ip) => is_global_v6(ip),
    }
}

fn is_global_v4(ip: Ipv4Addr) -> bool {
    let in_any = |nets: &[Ipv4Net]| nets.iter().any(|net| net.contains(&ip));
    in_any(REACHABLE_V4) || !in_any(REFUSED_V4)
}

fn is_global_v6(ip: Ipv6Addr) -> bool {
    let in_any = |nets: &[Ipv6Net]| nets.iter().any(|net| net.contains(&ip));
    let is_reachable =
        in_any(REACHABLE_V6) || (GLOBAL_UNICAST.contains(&ip) && !in_any(REFUSED_V6));
    is_reachable && carried(ip).all(is_global_v4)
}

/// The IPv4 addresses that `ip` carries, in every form that a host or gateway may act upon.
fn carried(ip: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
    let join = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    let pair = match ip.segments() {
        // In order: compatible (RFC 4291 §2.5.5.1) and translated (RFC 2765), mapped (RFC 4291
        // §2.5.5.2), NAT64 (RFC 6052), 6to4 (RFC 3056), ISATAP (RFC 5214).
        [0, 0, 0, 0, 0 | 0xffff, 0, a, b]
        | [0, 0, 0, 0, 0, 0xffff, a, b]
        | [0x64, 0xff9b, 0, 0, 0, 0, a, b]
        | [0x2002, a, b, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, a, b] => [Some(join(a, b)), None],
        // Local NAT64 (RFC 8215), in its last bits or, for a prefix of 48 (RFC 6052 §2.2), around
        // the octet that is always 0.
        [0x64, 0xff9b, 1, high, middle, low, a, b] => {
            let around = u16::from_be_bytes([middle.to_be_bytes()[1], low.to_be_bytes()[0]]);
            [Some(join(high, around)), Some(join(a, b))]
        }
        // Teredo (RFC 4380): the server, and the client with its bits turned over.
        [0x2001, 0, a, b, _, _, c, d] => [Some(join(a, b)), Some(join(!c, !d))],
        _ => [None, None],
    };
    pair.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(addresses: &[&str], want: Result<(), RefusedAddress>) {
        let policy = AddressPolicy::new(vec!["10.1.0.0/16".parse().unwrap()]);
        for address in addresses {
            assert_eq!(policy.check(address.parse().unwrap()), want, "{address}");
        }
    }

    #[test]
    fn public_and_named_addresses_may_be_contacted() {
        check(&["8.8.4.4", "2606:4700::1", "64:ff9b::808:808", "192.0.0.9", "2001:1::2"], Ok(()));
        check(&["10.1.2.3", "9.255.255.255", "11.0.0.0", "223.255.255.255"], Ok(()));
    }

    #[test]
    fn other_addresses_are_refused() {
        let refused = Err(RefusedAddress::NotPublic);
        check(&["10.2.0.1", "127.0.0.1", "0.0.0.0", "255.255.255.255", "239.1.1.1"], refused);
        check(&["::", "::1", "fe80::1", "fc00::1", "ff02::1", "100::1", "5f00::1"], refused);
        check(&["2001:db8::1", "3fff::1", "fec0::1", "4000::1"], refused);
    }

    #[test]
    fn a_carried_address_is_checked_too() {
        let refused = Err(RefusedAddress::NotPublic);
        check(&["::ffff:127.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1"], refused);
        check(&["64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::1"], refused);
        check(&["2001:0:808:808::80ff:fffe", "2606:4700::5efe:127.0.0.1"], refused);
        check(&["::ffff:10.1.2.3"], refused);
    }

    #[test]
    fn cloud_metadata_is_refused_even_when_everything_is_named() {
        let all = ["0.0.0.0/0", "::/0"].map(|net| net.parse().unwrap());
        let policy = AddressPolicy::new(all.to_vec());
        let carriers = ["::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::"]
            .map(|ip| ip.parse::<IpAddr>().unwrap());
        for ip in METADATA.iter().copied().chain(carriers) {
            assert_eq!(policy.check(ip), Err(RefusedAddress::CloudMetadata), "{ip}");
        }
        assert_eq!(policy.check("127.0.0.1".parse().unwrap()), Ok(()));
    }

    /// An address somewhere in one of `nets`: its `offset`th, counted round.
    fn inside(net: IpNet, offset: u128) -> IpAddr {
        match net {
            IpNet::V4(net) => {
                let host = u32::from(net.hostmask()) & u32::try_from(offset >> 96).unwrap();
                Ipv4Addr::from(u32::from(net.network()) | host).into()
            }
            IpNet::V6(net) => {
                let host = u128::from(net.hostmask()) & offset;
                Ipv6Addr::from(u128::from(net.network()) | host).into()
            }
        }
    }

    fn refused_nets() -> Vec<IpNet> {
        let v4 = REFUSED_V4.iter().copied().map(IpNet::V4);
        let v6 = REFUSED_V6.iter().copied().map(IpNet::V6);
        let outside = ["::/8", "100::/8", "4000::/2", "8000::/1"].map(|net| net.parse().unwrap());
        v4.chain(v6).chain(outside).collect()
    }

    proptest! {
        #[test]
        fn no_address_of_a_refused_network_passes(
            net in proptest::sample::select(refused_nets()), offset in any::<u128>(),
        ) {
            let ip = inside(net, offset);
            let is_reachable = match ip {
                IpAddr::V4(ip) => REACHABLE_V4.iter().any(|net| net.contains(&ip)),
                IpAddr::V6(ip) => REACHABLE_V6.iter().any(|net| net.contains(&ip)),
            };
            prop_assert_eq!(AddressPolicy::default().check(ip).is_ok(), is_reachable);
        }

        #[test]
        fn every_other_ipv4_address_passes(bits in any::<u32>()) {
            let ip = Ipv4Addr::from(bits);
            prop_assume!(!REFUSED_V4.iter().any(|net| net.contains(&ip)));
            prop_assume!(!METADATA.contains(&ip.into()));
            prop_assert_eq!(AddressPolicy::default().check(ip.into()), Ok(()));
        }

        #[test]
        fn a_private_address_passes_in_no_form(host in any::<u16>(), form in 0_usize..8) {
            let ip = Ipv4Addr::from(0x0a02_0000 | u32::from(host));
            let bits = u128::from(u32::from(ip));
            let carrier = [
                bits,
                0xffff << 32 | bits,
                0xffff << 48 | bits,
                0x0064_ff9b << 96 | bits,
                0x0064_ff9b_0001 << 80 | bits,
                0x2002 << 112 | bits << 80,
                0x2001 << 112 | 0x0808_0808 << 64 | (!bits & 0xffff_ffff),
                0x2606_4700 << 96 | 0x5efe << 32 | bits,
            ][form];
            let carrier = Ipv6Addr::from(carrier);
            prop_assert!(AddressPolicy::default().check(carrier.into()).is_err(), "{}", carrier);
        }
    }
}
