//! Reading while other processes write: followers, the cache of recent sessions, and switching from
//! one session to another.

mod cache;
mod counting_disk;
mod entries;
mod follow;
mod follow_since;
mod messages;
mod parts;
mod switch;

use std::path::Path;
use std::sync::Arc;

use boswell_store::disk::SystemIds;
use boswell_store::disk::{Disk, OpenMode, RealDisk, durable};
use boswell_store::{Draft, Home, NewSession, SessionWriter, WritableStore};

use counting_disk::BytesRead;

struct Lab {
    folder: tempfile::TempDir,
    reads: Arc<BytesRead>,
    store: WritableStore,
}

impl Lab {
    fn new() -> Lab {
        let folder = tempfile::tempdir().unwrap();
        let reads = Arc::new(BytesRead::default());
        let store = Home::on(
            reads.disk(),
            Arc::new(SystemIds),
            folder.path().join("home"),
        )
        .sessions()
        .unwrap();
        Lab {
            folder,
            reads,
            store,
        }
    }

    /// Opens the same store without the counting, as another process would.
    fn other(&self) -> WritableStore {
        Home::at(self.folder.path().join("home"))
            .sessions()
            .unwrap()
    }

    /// Creates a session with an id and this many entries.
    fn session(&self, id: &str, entries: usize) -> SessionWriter {
        let writer = self
            .other()
            .create(NewSession::in_project("/proj/demo").with_id(id))
            .unwrap();
        for number in 0..entries {
            writer
                .append(Draft::user(format!("{id} {number}")))
                .unwrap();
        }
        writer
    }

    /// Appends bytes without locks, like another program.
    fn add(&self, path: &Path, bytes: &str) {
        let file = RealDisk.open(path, OpenMode::Append).unwrap();
        durable::append_all(file.as_ref(), bytes.as_bytes()).unwrap();
    }
}
