//! The subset of WebDriver that the tests need. <https://www.w3.org/TR/webdriver2/>

use crate::modules::fonts;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// The display mode of a page.
#[derive(Clone, Copy)]
pub struct Options {
    pub width: u32,
    pub height: u32,
    pub is_dark: bool,
    pub has_script: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            width: 1280,
            height: 900,
            is_dark: false,
            has_script: true,
        }
    }
}

/// A browser with a driver of its own. Both end with this.
pub struct Browser {
    driver: Child,
    client: Client,
    session: String,
    _profile: tempfile::TempDir,
}

/// The name under which elements are sent.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// The timeout for content that a page is about to show.
const PATIENCE: Duration = Duration::from_secs(30);

impl Browser {
    pub async fn start(options: Options) -> Self {
        // Only for loopback, without TLS; the client wants a provider nevertheless.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (driver, address) = start_driver();
        let profile = tempfile::tempdir().unwrap();
        let mut arguments = vec![
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--disable-background-networking".to_owned(),
            "--hide-scrollbars".to_owned(),
            format!("--user-data-dir={}", profile.path().display()),
        ];
        if options.is_dark {
            arguments.push("--blink-settings=preferredColorScheme=0".to_owned());
        }
        let script = if options.has_script { 1 } else { 2 };
        let mut chrome = json!({
            "args": arguments,
            "prefs": {
                "profile.managed_default_content_settings.javascript": script,
                "download.default_directory": profile.path(),
            },
        });
        // The emulated screen may be narrower than any window.
        chrome["mobileEmulation"] = json!({"deviceMetrics": {
            "width": options.width, "height": options.height, "pixelRatio": 1.0, "mobile": options.width < 600, "touch": false,
        }});
        let timeouts = json!({"script": (2 * PATIENCE).as_millis() as u64});
        let wanted =
            json!({"browserName": "chrome", "goog:chromeOptions": chrome, "timeouts": timeouts});
        let capabilities = json!({"capabilities": {"alwaysMatch": wanted}});
        let client = Client::builder()
            .no_proxy()
            .timeout(3 * PATIENCE)
            .build()
            .unwrap();
        let answer = send(
            &client,
            Method::POST,
            &format!("{address}/session"),
            capabilities,
        )
        .await;
        let id = answer["sessionId"].as_str().expect("a session");
        let session = format!("{address}/session/{id}");
        Browser {
            driver,
            client,
            session,
            _profile: profile,
        }
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        send(
            &self.client,
            Method::POST,
            &format!("{}/{path}", self.session),
            body,
        )
        .await
    }

    async fn get(&self, path: &str) -> Value {
        send(
            &self.client,
            Method::GET,
            &format!("{}/{path}", self.session),
            Value::Null,
        )
        .await
    }

    pub async fn go(&self, address: &str) {
        self.post("url", json!({"url": address})).await;
    }

    /// The elements, once there is one.
    async fn find(&self, css: &str) -> String {
        let start = Instant::now();
        loop {
            let found = self
                .post("elements", json!({"using": "css selector", "value": css}))
                .await;
            if let Some(element) = found[0][ELEMENT].as_str() {
                return element.to_owned();
            }
            let page = self.text("body").await;
            assert!(
                start.elapsed() < PATIENCE,
                "there is no {css} on the page:\n{page}"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub async fn count(&self, css: &str) -> usize {
        let found = self
            .post("elements", json!({"using": "css selector", "value": css}))
            .await;
        found.as_array().map_or(0, Vec::len)
    }

    /// Asks about an element or acts on it, also if the page replaces it just then.
    async fn at(&self, css: &str, method: Method, path: &str, body: Value) -> Value {
        let start = Instant::now();
        loop {
            let element = self.find(css).await;
            let address = format!("{}/element/{element}/{path}", self.session);
            match try_send(&self.client, method.clone(), &address, body.clone()).await {
                Ok(value) => return value,
                Err(error) if error.starts_with("stale") && start.elapsed() < PATIENCE => {}
                Err(error) => panic!("{css}, {path}: {error}"),
            }
        }
    }

    pub async fn click(&self, css: &str) {
        self.at(css, Method::POST, "click", json!({})).await;
    }

    /// Types into a field, in place of what is in it.
    pub async fn fill(&self, css: &str, text: &str) {
        if self.attribute(css, "type").await != "file" {
            self.at(css, Method::POST, "clear", json!({})).await;
        }
        let body = json!({"text": text});
        self.at(css, Method::POST, "value", body).await;
    }

    /// Presses keys on whatever has the focus; `\u{e004}` is Tab, `\u{e007}` Enter.
    pub async fn press(&self, keys: &str) {
        let press = |key: char| {
            [
                json!({"type": "keyDown", "value": key}),
                json!({"type": "keyUp", "value": key}),
            ]
        };
        let actions: Vec<Value> = keys.chars().flat_map(press).collect();
        self.post(
            "actions",
            json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}),
        )
        .await;
    }

    pub async fn text(&self, css: &str) -> String {
        let found = self
            .post("elements", json!({"using": "css selector", "value": css}))
            .await;
        let Some(element) = found[0][ELEMENT].as_str() else {
            return String::new();
        };
        // A page that is just being replaced says nothing.
        let address = format!("{}/element/{element}/text", self.session);
        let text = try_send(&self.client, Method::GET, &address, Value::Null).await;
        text.ok()
            .and_then(|text| text.as_str().map(str::to_owned))
            .unwrap_or_default()
    }

    /// A property of an element, such as what is in a field.
    pub async fn attribute(&self, css: &str, name: &str) -> String {
        let path = format!("property/{name}");
        let value = self.at(css, Method::GET, &path, Value::Null).await;
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the page says this.
    pub async fn wait_for(&self, words: &str) {
        let start = Instant::now();
        loop {
            let text = self.text("body").await;
            if text.contains(words) {
                return;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "the page doesn't say \"{words}\":\n{text}"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns the result of a script in the page. It runs even if the page may not have scripts.
    pub async fn run(&self, script: &str) -> Value {
        self.post("execute/sync", json!({"script": script, "args": []}))
            .await
    }

    /// Returns the value that a script passes to its callback.
    pub async fn run_until_told(&self, script: &str) -> Value {
        self.post("execute/async", json!({"script": script, "args": []}))
            .await
    }

    /// Gives the browser an authenticator that makes passkeys and knows its user.
    pub async fn add_authenticator(&self) {
        let authenticator = json!({
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": true,
            "hasUserVerification": true, "isUserConsenting": true, "isUserVerified": true,
        });
        self.post("webauthn/authenticator", authenticator).await;
    }

    /// Whether an element is to be seen.
    pub async fn is_displayed(&self, css: &str) -> bool {
        let shown = self.at(css, Method::GET, "displayed", Value::Null).await;
        shown.as_bool().unwrap_or_default()
    }

    /// A picture of the page, as base64.
    pub async fn picture(&self) -> String {
        self.get("screenshot")
            .await
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    pub async fn end(mut self) {
        let _ = self.client.delete(&self.session).send().await;
        self.stop();
    }

    fn stop(&mut self) {
        let group = format!("-{}", self.driver.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.driver.wait();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Attempts to start the driver. It ends at once when another process has taken its port at the second address family.
const STARTS_MAX: u32 = 5;

/// The driver and its address.
fn start_driver() -> (Child, String) {
    let mut starts = (0..STARTS_MAX).filter_map(|_| try_start_driver());
    starts.next().expect("it says its port")
}

fn try_start_driver() -> Option<(Child, String)> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .env("FONTCONFIG_FILE", fonts())
        // A group of its own: the browser it starts ends with it.
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("chromedriver is installed");
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.find_map(|line| {
        let line = line.ok()?;
        let (_, port) = line.rsplit_once("started successfully on port ")?;
        port.trim_end_matches('.').parse::<u16>().ok()
    });
    let Some(port) = port else {
        // Its output has ended.
        driver.wait().expect("the driver has ended");
        return None;
    };
    std::thread::spawn(move || lines.for_each(drop));
    Some((driver, format!("http://127.0.0.1:{port}")))
}

async fn send(client: &Client, method: Method, address: &str, body: Value) -> Value {
    let answer = try_send(client, method, address, body).await;
    answer.unwrap_or_else(|error| panic!("{address}: {error}"))
}

/// Returns the driver's answer, or its error.
async fn try_send(
    client: &Client,
    method: Method,
    address: &str,
    body: Value,
) -> Result<Value, String> {
    let mut request = client.request(method, address);
    if !body.is_null() {
        request = request.json(&body);
    }
    let answer: Value = request
        .send()
        .await
        .expect("the driver answers")
        .json()
        .await
        .expect("JSON");
    let value = &answer["value"];
    match value["error"].as_str() {
        Some(error) => Err(format!("{error}: {}", value["message"])),
        None => Ok(value.clone()),
    }
}
