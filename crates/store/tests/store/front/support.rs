//! A store in a folder or on a crash disk, with a runner.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Depth, EditRequest, NewSession, SessionLocation, StoreRequest, by_name};
use boswell_model::{Result, SessionMeta, Tip};
use boswell_store::backend::FsBackend;
use boswell_store::disk::IdSource;
use boswell_store::disk::{Disk, RealDisk, durable};
use boswell_store::locks::Owner;
use boswell_store::operations::{Executed, Runner};
use boswell_store::{Home, Store, Wait, WritableStore};
use boswell_testkit::files::Batch;
use boswell_testkit::ids::SeededIds;
use serde_json::Value;

/// A store with a runner, on some disk.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) root: PathBuf,
    pub(crate) store: WritableStore,
    pub(crate) runner: Runner,
}

impl Place {
    pub(crate) fn on(disk: Arc<dyn Disk>, dialect: &str, folder: &Path, seed: u64) -> Place {
        let id_source: Arc<dyn IdSource> = Arc::new(SeededIds::new(seed));
        let (root, home) = (folder.join("store"), folder.join("home"));
        let backend = Arc::new(FsBackend::on(Arc::clone(&disk), &root));
        let store = Home::on(Arc::clone(&disk), Arc::clone(&id_source), &home).writable(Store::on(
            by_name(dialect).unwrap(),
            backend,
            &root,
        ));
        let owner = Owner {
            pid: 4242,
            program: "test".into(),
        };
        let runner = Runner::new(Arc::clone(&disk), &home, id_source, owner);
        Place {
            disk,
            root,
            store,
            runner,
        }
    }

    pub(crate) fn read(&self, key: &str) -> Vec<u8> {
        durable::read(self.disk.as_ref(), &self.root.join(key))
            .unwrap()
            .unwrap()
    }

    pub(crate) fn json(&self, key: &str) -> Value {
        serde_json::from_slice(&self.read(key)).unwrap()
    }

    pub(crate) fn find(&self, id: &str) -> SessionLocation {
        self.store
            .list()
            .unwrap()
            .sessions
            .into_iter()
            .find(|location| location.id == id)
            .unwrap()
    }

    pub(crate) fn meta(&self, id: &str) -> SessionMeta {
        self.store
            .read(&self.find(id), Depth::Facts)
            .unwrap()
            .meta()
            .clone()
    }

    pub(crate) fn carry_out(&self, id: &str, request: &EditRequest) -> Result<Executed> {
        self.runner.execute(&self.store, &self.find(id), request)
    }

    pub(crate) fn carry_out_store(&self, request: &StoreRequest) -> Result<Executed> {
        self.runner.execute_store(&self.store, request)
    }

    pub(crate) fn problems(&self) -> Vec<String> {
        self.store
            .list()
            .unwrap()
            .problems
            .into_iter()
            .map(|(_, problem)| problem.detail)
            .collect()
    }
}

/// Writes generated files durably.
pub(crate) fn plant(disk: &dyn Disk, folder: &Path, batch: &Batch) {
    let files = batch
        .sessions
        .iter()
        .flat_map(|made| &made.files.list)
        .chain(&batch.shared.list);
    for file in files {
        let path = folder.join("store").join(&file.path);
        durable::make_folders(disk, path.parent().unwrap()).unwrap();
        durable::create(disk, &path, &file.bytes).unwrap();
    }
    durable::make_folders(disk, &folder.join("home")).unwrap();
}

/// Creates a store with these files in a temporary folder.
pub(crate) fn real(dialect: &str, batch: &Batch) -> (tempfile::TempDir, Place) {
    // These tests are about what processes see, not about durability, so a file system in memory is
    // used if there is one.
    let folder = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    batch.write_to(&folder.path().join("store"));
    let place = Place::on(Arc::new(RealDisk), dialect, folder.path(), 1);
    let runner = place
        .runner
        .clone()
        .waiting(Wait::For(std::time::Duration::from_secs(20)));
    (folder, Place { runner, ..place })
}

/// Returns the request to fork at the current leaf.
pub(crate) fn fork(place: &Place, id: &str, new: NewSession) -> EditRequest {
    let at = place
        .store
        .read(&place.find(id), Depth::Heads)
        .unwrap()
        .tip()
        .unwrap();
    let at = if at == Tip::Root { Tip::Root } else { at };
    EditRequest::Fork { at, new }
}
