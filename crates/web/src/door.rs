//! The door of the page: which requests are let in. Host and Origin are looked at first, then the cookie, then who dialled: what an
//! agent has started reads nothing and decides nothing.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(crate) use http::StatusCode;
use http::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use http::{HeaderMap, HeaderValue, Method};
use pillion_discovery::private_file::random_name;
use pillion_protocol::Token;
use pillion_system::lock;
use pillion_system::peer::{self, Connection};
use pillion_view::ask::ArePersons;
use pillion_view::{Handle, Reply};
use tokio::sync::{OnceCell, oneshot};

use crate::wire::{self, Refusal};

/// The names of loopback, under which a forwarded port is dialled, too.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The time for which an address that was printed can be opened.
const TOKEN_TIME: Duration = Duration::from_secs(10 * 60);

/// The most addresses that are open at once.
const MAX_TOKENS: usize = 16;

/// Names the tab that asks.
const TAB: &str = "x-pillion-tab";

/// Holds the secret that the page keeps beside the cookie: browsers send cookies to every port of a host, and so to whoever else
/// listens there.
const KEY: &str = "x-pillion-key";

/// A refusal with its status.
pub(crate) type Refused = (StatusCode, Refusal);

/// A refusal without anything beside it.
pub(crate) fn refused(
    status: StatusCode,
    code: &'static str,
    message: impl Into<String>,
) -> Refused {
    let message = message.into();
    let now = None;
    (status, Refusal { code, message, now })
}

/// The refusal of what is no request of the page's.
pub(crate) fn not_understood(message: impl Into<String>) -> Refused {
    refused(StatusCode::BAD_REQUEST, "notUnderstood", message)
}

/// The secrets of one page.
pub(crate) struct Door {
    port: u16,
    session: Token,
    key: Token,
    /// The tokens of addresses that were printed and not opened.
    tokens: Mutex<Vec<(Token, Instant)>>,
}

impl Door {
    /// That of a page at this port.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn new(port: u16) -> std::io::Result<Self> {
        Ok(Self {
            port,
            session: Token::from(random_name::<32>("")?),
            key: Token::from(random_name::<32>("")?),
            tokens: Mutex::default(),
        })
    }

    /// An address that opens the page once.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn address(&self) -> std::io::Result<String> {
        let token = random_name::<24>("")?;
        let address = format!("http://127.0.0.1:{}/#{token}", self.port);
        let mut tokens = lock(&self.tokens);
        tokens.retain(|(_, since)| since.elapsed() < TOKEN_TIME);
        if tokens.len() >= MAX_TOKENS {
            tokens.remove(0);
        }
        tokens.push((Token::from(token), Instant::now()));
        Ok(address)
    }

    /// Lets a browser in that has a token, which opens nothing any more then. The cookie, and what the page keeps beside it.
    pub(crate) fn enter(&self, token: &str) -> Result<(HeaderValue, wire::Entered), Refused> {
        let mut tokens = lock(&self.tokens);
        tokens.retain(|(_, since)| since.elapsed() < TOKEN_TIME);
        let found = tokens
            .iter()
            .position(|(it, _)| it.matches(token.as_bytes()));
        let unknown =
            "this address was opened before, or is too old: `pillion web --url` prints another one";
        let at = found.ok_or_else(|| refused(StatusCode::FORBIDDEN, "session", unknown))?;
        tokens.remove(at);
        let (name, secret) = (self.cookie_name(), self.session.expose());
        let cookie = format!("{name}={secret}; HttpOnly; SameSite=Strict; Path=/");
        let mut cookie = HeaderValue::try_from(cookie)
            .map_err(|_| refused(StatusCode::INTERNAL_SERVER_ERROR, "session", "no cookie"))?;
        cookie.set_sensitive(true);
        let key = self.key.expose().to_owned();
        Ok((cookie, wire::Entered { key }))
    }

    /// Named by the port: cookies do not know ports, and several pages may be open.
    fn cookie_name(&self) -> String {
        format!("pillion-{}", self.port)
    }

    /// Returns true if a request has the cookie and the key.
    pub(crate) fn knows(&self, headers: &HeaderMap) -> bool {
        let key = headers.get(KEY).map(HeaderValue::as_bytes);
        key.is_some_and(|key| self.key.matches(key)) && self.has_cookie(headers)
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let values = headers
            .get_all(COOKIE)
            .iter()
            .flat_map(|it| it.as_bytes().split(|it| *it == b';'));
        let mut own = values.filter_map(|pair| {
            let rest = pair.trim_ascii().strip_prefix(name.as_bytes())?;
            rest.strip_prefix(b"=")
        });
        own.any(|secret| self.session.matches(secret))
    }

    /// Lets in a request for what only the person sees.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let message = "open the whole address that `pillion web` has printed; `pillion web --url` prints another one";
        let unknown = || refused(StatusCode::UNAUTHORIZED, "session", message);
        self.knows(headers).then_some(()).ok_or_else(unknown)
    }
}

/// Checks what every request must have. The page itself may be navigated to from elsewhere: it holds no secret.
pub(crate) fn check(method: &Method, headers: &HeaderMap, is_page: bool) -> Result<(), Refused> {
    let host = single(headers, &HOST).filter(|host| is_loopback(host));
    let misdirected = || {
        let message = "the page is served at 127.0.0.1 and localhost only";
        refused(StatusCode::MISDIRECTED_REQUEST, "host", message)
    };
    let host = host.ok_or_else(misdirected)?;
    let is_own = |origin: &str| {
        let own = origin.strip_prefix("http://");
        own.is_some_and(|it| it.eq_ignore_ascii_case(host))
    };
    let is_navigated = is_page && method == Method::GET;
    let origin = headers
        .contains_key(ORIGIN)
        .then(|| single(headers, &ORIGIN));
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let is_here = origin.is_none_or(|it| it.is_some_and(is_own))
        && (is_navigated || site.is_none_or(|it| it == b"same-origin" || it == b"none"));
    match is_here {
        true => Ok(()),
        false => Err(refused(
            StatusCode::FORBIDDEN,
            "origin",
            "another site asks this",
        )),
    }
}

/// Checks what a simple form cannot send, and names the tab that asks.
pub(crate) fn tab(method: &Method, headers: &HeaderMap) -> Result<String, Refused> {
    let is_json = || {
        let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let kind = kind.and_then(|it| it.split(';').next()).unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("application/json")
    };
    if method == Method::POST && !is_json() {
        let message = "send JSON as application/json";
        return Err(refused(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "notUnderstood",
            message,
        ));
    }
    let name = headers.get(TAB).and_then(|it| it.to_str().ok());
    name.filter(|it| is_tab(it))
        .map(str::to_owned)
        .ok_or_else(|| not_understood("X-Pillion-Tab is missing"))
}

/// Returns true if a tab may be called so.
pub(crate) fn is_tab(name: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || it == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(is_plain)
}

/// The one value of a header.
fn single<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()) => {
            name
        }
        _ => host,
    };
    HOSTS.iter().any(|it| it.eq_ignore_ascii_case(name))
}

/// Who is at the other end of a connection. Its processes are looked for once, when it first asks for what only the person sees;
/// whether they are the person's is asked each time, because an agent may be known by then.
pub(crate) struct Peer {
    connection: Option<Connection>,
    companion: Handle,
    pids: OnceCell<Vec<u32>>,
}

impl Peer {
    pub(crate) fn new(connection: Option<Connection>, companion: Handle) -> Arc<Self> {
        Arc::new(Self {
            connection,
            companion,
            pids: OnceCell::new(),
        })
    }

    /// Lets the person in, and nobody else.
    pub(crate) async fn admit(&self) -> Result<(), Refused> {
        let connection = self.connection;
        let find = async move || {
            let found = tokio::task::spawn_blocking(move || {
                connection.map(peer::possible_holders).unwrap_or_default()
            });
            found.await.unwrap_or_default()
        };
        let pids = self.pids.get_or_init(find).await;
        let judged = match peer::TELLS_DIALLERS && pids.is_empty() {
            true => {
                Err("another user asks this, or a program that cannot be seen from here".into())
            }
            false => are_persons(&self.companion, pids.clone()).await,
        };
        judged.map_err(|why| refused(StatusCode::FORBIDDEN, "byAgent", why))
    }
}

/// Whether these processes are the person's, by the rule of the companion.
pub(crate) async fn are_persons(companion: &Handle, pids: Vec<u32>) -> Result<(), String> {
    let (told, answer) = oneshot::channel();
    let reply = Reply::new(move |answer| drop(told.send(answer)));
    companion.ask(ArePersons { pids }, reply);
    match answer.await {
        Ok(Ok(None)) => Ok(()),
        Ok(Ok(Some(stranger))) => Err(stranger.of_browser()),
        Ok(Err(why)) => Err(format!("it cannot be found out who asks: {why}")),
        Err(_) => Err("the page is closing".to_owned()),
    }
}
