//! `health`.

use anyhow::{Context, ensure};
use clap::Args;
use inorder_couch::replicate::shared_client;
use reqwest::StatusCode;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(5);

/// Asks a server whether it is up: the exit code is 0 if it is, and 1 otherwise.
///
/// The command requests `/_up`. A server that wants a password for it is up, too. Certificates are not verified, because
/// the request has no secret.
#[derive(Debug, Args)]
pub struct Health {
    /// The URL of the server.
    #[arg(
        default_value = "http://127.0.0.1:5984",
        env = "INORDER_COUCH_HEALTH_URL"
    )]
    url: String,
}

impl Health {
    pub fn run(self) -> anyhow::Result<()> {
        let url = format!("{}/_up", self.url.trim_end_matches('/'));
        let client = shared_client(TIMEOUT, false)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let request = async { client.get(&url).timeout(TIMEOUT).send().await };
        let answer = runtime.block_on(request);
        let status = answer
            .with_context(|| format!("{url} does not answer"))?
            .status();
        let is_up = status.is_success() || status == StatusCode::UNAUTHORIZED;
        ensure!(is_up, "{url} answers {status}");
        Ok(())
    }
}
