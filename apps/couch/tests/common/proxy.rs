//! A proxy that cuts connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Passes bytes on to an address, and cuts each of the first connections after so many bytes. Returns its own address.
pub async fn cutting(to: String, cuts: Vec<usize>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let next = Arc::new(AtomicUsize::new(0));
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let left = cuts.get(next.fetch_add(1, Ordering::Relaxed)).copied();
            if let Ok(server) = TcpStream::connect(&to).await {
                tokio::spawn(pass(client, server, left.unwrap_or(usize::MAX)));
            }
        }
    });
    address
}

async fn pass(mut client: TcpStream, mut server: TcpStream, mut left: usize) {
    let (mut up, mut down) = (vec![0; 4096], vec![0; 4096]);
    loop {
        let (to, bytes) = tokio::select! {
            read = client.read(&mut up) => (&mut server, up.get(..read.unwrap_or(0))),
            read = server.read(&mut down) => (&mut client, down.get(..read.unwrap_or(0))),
        };
        let bytes = bytes.unwrap_or_default();
        let passed = &bytes[..bytes.len().min(left)];
        left -= passed.len();
        if passed.is_empty() || to.write_all(passed).await.is_err() || left == 0 {
            return;
        }
    }
}
