//! Measures the cost of a stream's key, per kind and encoding: `cargo bench -p inorder-key --bench stream`.

use std::hint::black_box;
use std::time::Instant;

use inorder_key::KeyKind;
use inorder_key::bulk::KeyStream;

const KEYS: usize = 10_000;
const ROUNDS: usize = 200;

fn main() {
    for &kind in KeyKind::ALL {
        for &encoding in kind.encodings() {
            let mut stream = KeyStream::seeded(kind, encoding, 1).expect("a valid pair");
            let mut buffer = stream.fill(KEYS);
            let best = (0..ROUNDS)
                .map(|_| {
                    buffer.clear();
                    let start = Instant::now();
                    stream.fill_into(KEYS, &mut buffer);
                    black_box(&buffer);
                    start.elapsed()
                })
                .min()
                .expect("rounds");
            let ns = best.as_nanos() as f64 / KEYS as f64;
            println!(
                "{:10} {:8} {ns:6.2} ns per key",
                kind.name(),
                encoding.name()
            );
        }
    }
}
