//! What stands around a PostgreSQL in tests: a pooler before it, a small disk below it, and a
//! certificate of its own making.
#![expect(
    clippy::disallowed_methods,
    reason = "writes the configuration of a program, and reads what it wrote"
)]
#![expect(clippy::print_stderr, reason = "says which tests are skipped")]

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::postgres_server::is_root;

/// PgBouncer in transaction mode on a port of its own.
#[derive(Debug)]
pub struct PgBouncer {
    port: u16,
    folder: PathBuf,
    process: Child,
}

/// A disk of a few megabytes, mounted in a temporary folder.
#[derive(Debug)]
pub struct SmallDisk {
    folder: PathBuf,
}

/// A certificate of its own making for 127.0.0.1, in PEM.
#[derive(Debug)]
pub struct TestCertificate {
    /// The certificate.
    pub certificate: Vec<u8>,
    /// Its key.
    pub key: Vec<u8>,
}

fn skip(what: &str) {
    let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!ci, "{what}: run `cargo xtask test`");
    eprintln!("SKIPPED: {what}");
}

fn new_folder(name: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("boswell-{name}-{}-{count}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl PgBouncer {
    /// Starts a pooler with this many connections to a server on a port of this machine; `None`,
    /// with a line that says so, if PgBouncer is not installed. Under `CI=true` that is a failure.
    pub fn start_or_skip(server: u16, users: &[&str], connections: usize) -> Option<PgBouncer> {
        if !Path::new("/usr/sbin/pgbouncer").exists() {
            skip("PgBouncer is not installed (Debian: pgbouncer)");
            return None;
        }
        let folder = new_folder("pgbouncer");
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .port();
        let path = folder.display();
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={server}\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = trust\nauth_file = {path}/users\npool_mode = transaction\n\
             default_pool_size = {connections}\nmax_client_conn = 200\nlogfile = {path}/log\n"
        );
        let users: String = users
            .iter()
            .map(|user| format!("\"{user}\" \"\"\n"))
            .collect();
        std::fs::write(folder.join("users"), users).expect("a list of users");
        std::fs::write(folder.join("settings"), settings).expect("a configuration");
        let mut command = Command::new("/usr/sbin/pgbouncer");
        if is_root() {
            // It refuses root.
            let _ = succeeds(Command::new("chown").args(["-R", "postgres"]).arg(&folder));
            command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
            command.arg("/usr/sbin/pgbouncer");
        }
        command.arg("-q").arg(folder.join("settings"));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let process = command.stderr(Stdio::null()).spawn().expect("pgbouncer");
        let pooler = PgBouncer {
            port,
            folder,
            process,
        };
        pooler.wait_until_it_listens();
        Some(pooler)
    }

    fn wait_until_it_listens(&self) {
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        let listens = false;
        assert!(listens, "PgBouncer did not start: {log}");
    }

    /// Returns its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl SmallDisk {
    /// Mounts a disk of so many megabytes that PostgreSQL may write to; `None`, with a line that
    /// says so, where only root could and this user is not root, or where it may not mount either.
    pub fn mount_or_skip(megabytes: u32) -> Option<SmallDisk> {
        let folder = new_folder("disk");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o"]);
        mount.arg(format!("size={megabytes}m")).arg("tmpfs");
        if !is_root() || !succeeds(mount.arg(&folder)) {
            let _ = std::fs::remove_dir(&folder);
            eprintln!("SKIPPED: a small disk can be mounted by root only");
            return None;
        }
        let _ = succeeds(Command::new("chown").arg("postgres").arg(&folder));
        Some(SmallDisk { folder })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = succeeds(Command::new("umount").arg("--lazy").arg(&self.folder));
        let _ = std::fs::remove_dir(&self.folder);
    }
}

impl TestCertificate {
    /// Makes one; `None`, with a line that says so, if OpenSSL's program is not installed. Under
    /// `CI=true` that is a failure.
    pub fn make_or_skip() -> Option<TestCertificate> {
        let folder = new_folder("certificate");
        let (key, certificate) = (folder.join("key"), folder.join("certificate"));
        let mut openssl = Command::new("openssl");
        openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt"]);
        openssl.args(["ec_paramgen_curve:prime256v1", "-nodes", "-days", "3650"]);
        openssl.args([
            "-subj",
            "/CN=test",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ]);
        openssl.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
        openssl.arg("-keyout").arg(&key);
        openssl.arg("-out").arg(&certificate);
        let made = succeeds(&mut openssl).then(|| TestCertificate {
            certificate: std::fs::read(&certificate).expect("its certificate"),
            key: std::fs::read(&key).expect("its key"),
        });
        let _ = std::fs::remove_dir_all(&folder);
        if made.is_none() {
            skip("OpenSSL's program is not installed (Debian: openssl)");
        }
        made
    }
}
