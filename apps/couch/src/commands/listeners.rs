//! The sockets of `serve`.

use super::tls::Secure;
use anyhow::Context;
use inorder_serve::acme::Acme;
use inorder_serve::{ConnectionLimits, HttpServer, TlsAcceptor};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Sockets that are bound. Clients connect, and wait until the server answers.
pub struct Listeners {
    plain: TcpListener,
    secure: Option<(TcpListener, TlsAcceptor)>,
    acme: Option<(Acme, Option<TcpListener>)>,
}

impl Listeners {
    /// Binds the addresses.
    ///
    /// # Errors
    /// If one is in use or may not be used.
    pub async fn bind(plain: SocketAddr, secure: Option<Secure>) -> anyhow::Result<Self> {
        let plain = bind(&[plain]).await?;
        let Some(secure) = secure else {
            return Ok(Listeners {
                plain,
                secure: None,
                acme: None,
            });
        };
        let listener = bind(&secure.addresses).await?;
        let challenges = match secure.challenges.is_empty() {
            true => None,
            false => Some(bind(&secure.challenges).await?),
        };
        Ok(Listeners {
            plain,
            secure: Some((listener, secure.acceptor)),
            acme: secure.acme.map(|acme| (acme, challenges)),
        })
    }

    /// The address without TLS.
    pub fn plain_address(&self) -> io::Result<SocketAddr> {
        self.plain.local_addr()
    }

    /// The address of TLS.
    pub fn secure_address(&self) -> io::Result<Option<SocketAddr>> {
        let secure = self.secure.as_ref();
        secure
            .map(|(listener, _)| listener.local_addr())
            .transpose()
    }

    /// The first address that other machines reach.
    pub fn open_address(&self) -> io::Result<Option<SocketAddr>> {
        let addresses = [Some(self.plain_address()?), self.secure_address()?];
        let mut addresses = addresses.into_iter().flatten();
        Ok(addresses.find(|address| !address.ip().is_loopback()))
    }

    /// Begins to keep the certificate until `stop`, and returns the sockets for requests.
    pub fn into_serving(
        self,
        stop: &CancellationToken,
    ) -> (TcpListener, Option<(TcpListener, TlsAcceptor)>) {
        if let Some((acme, challenges)) = self.acme {
            if let Some(listener) = challenges {
                let http = HttpServer {
                    answers: acme.http_router(),
                    limits: ConnectionLimits::default(),
                    open: Arc::default(),
                    stop: stop.clone(),
                };
                tokio::spawn(http.serve(listener));
            }
            tokio::spawn(acme.keep(stop.clone()));
        }
        (self.plain, self.secure)
    }
}

/// Binds the first address that works.
async fn bind(addresses: &[SocketAddr]) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(addresses).await;
    listener.with_context(|| {
        let addresses: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
        format!("cannot listen at {}", addresses.join(" or "))
    })
}
