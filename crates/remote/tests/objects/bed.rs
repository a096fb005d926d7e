//! One server of objects for all tests of this program, and proxies to it.

use std::sync::OnceLock;
use std::time::Duration;

use boswell_remote::{Objects, ObjectsOptions};
use boswell_testkit::moto_server::{MotoServer, objects_address};
use boswell_testkit::object_proxy::ObjectProxy;

/// The server that tests share; `None` if moto is not installed.
pub(crate) fn server() -> Option<&'static MotoServer> {
    static SERVER: OnceLock<Option<MotoServer>> = OnceLock::new();
    SERVER.get_or_init(MotoServer::start_or_skip).as_ref()
}

/// Options for a port of this machine.
pub(crate) fn options(port: u16) -> ObjectsOptions {
    ObjectsOptions::parse(&objects_address(port), "key", "secret", None)
        .unwrap()
        .timeout(Duration::from_secs(20))
}

/// Returns a client of the server itself.
pub(crate) fn objects() -> Option<Objects> {
    Some(Objects::open(options(server()?.port())).unwrap())
}

/// Returns a client through a proxy of its own.
pub(crate) fn through_proxy() -> Option<(ObjectProxy, Objects)> {
    let proxy = ObjectProxy::to(server()?.port());
    let objects = Objects::open(options(proxy.port())).unwrap();
    Some((proxy, objects))
}
