//! The connections of each client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Returns the network of a client: an IPv4 address, or the first 64 bits of an IPv6 address, which one customer of a
/// provider usually has. An IPv4 address mapped to IPv6 is returned as IPv4.
pub fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let bits = address.to_bits() & !u128::from(u64::MAX);
            IpAddr::V6(bits.into())
        }
        v4 => v4,
    }
}

/// Counts the open connections of each client network.
#[derive(Default)]
pub struct Places(Mutex<HashMap<IpAddr, usize>>);

/// The place of one connection. It is free again when this is dropped.
pub struct Place {
    client: IpAddr,
    places: Arc<Places>,
}

impl Places {
    /// Takes a place for a connection of a client. Returns none when the client has `places_max` connections.
    pub fn take(self: &Arc<Self>, client: IpAddr, places_max: usize) -> Option<Place> {
        let mut counts = self.counts();
        let count = counts.get(&client).copied().unwrap_or(0);
        if count >= places_max {
            return None;
        }
        counts.insert(client, count + 1);
        drop(counts);
        Some(Place {
            client,
            places: Arc::clone(self),
        })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.places.counts();
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_network_is_an_ipv4_address_or_64_bits() {
        let same = |a: &str, b: &str| {
            client_network(a.parse().unwrap()) == client_network(b.parse().unwrap())
        };
        assert!(same("2001:db8::1", "2001:db8::ffff:1"));
        assert!(!same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(same("::ffff:192.0.2.1", "192.0.2.1") && !same("192.0.2.1", "192.0.2.2"));
    }

    #[test]
    fn a_dropped_place_is_free_again_and_nothing_is_remembered() {
        let places = Arc::new(Places::default());
        let client = "192.0.2.1".parse().unwrap();
        let first = places.take(client, 1).unwrap();
        assert!(places.take(client, 1).is_none());
        assert!(places.take("192.0.2.2".parse().unwrap(), 1).is_some());
        drop(first);
        assert!(places.take(client, 1).is_some());
        assert!(places.counts().is_empty());
    }
}
