//! A store with one damaged session in a temporary folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use boswell_dialect::{Confidence, Dialect, SessionLocation};
use boswell_store::disk::RealDisk;
use boswell_store::locks::Owner;
use boswell_store::operations::Runner;
use boswell_store::repair::{RepairRequest, Repaired};
use boswell_store::{Home, Store, WritableStore};
use boswell_testkit::Made;
use boswell_testkit::ids::SeededIds;

pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: WritableStore,
    pub(crate) runner: Runner,
    pub(crate) path: PathBuf,
    id: String,
}

impl Bench {
    /// Creates a store of the dialect with a generated session that has these bytes.
    pub(crate) fn new(dialect: &'static dyn Dialect, made: &Made, bytes: &[u8]) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let path = made.write_to(&folder.path().join("store"));
        Bench::at(dialect, folder, path, bytes)
    }

    /// Creates a store of Claude Code with a log of this name and these bytes.
    pub(crate) fn of_claude(name: &str, bytes: &[u8]) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("store/projects/-p");
        std::fs::create_dir_all(&project).unwrap();
        let path = project.join(name);
        Bench::at(&boswell_dialect::claude::Claude, folder, path, bytes)
    }

    fn at(
        dialect: &'static dyn Dialect,
        folder: tempfile::TempDir,
        path: PathBuf,
        bytes: &[u8],
    ) -> Bench {
        let (root, home) = (folder.path().join("store"), folder.path().join("home"));
        std::fs::write(&path, bytes).unwrap();
        let id_source = Arc::new(SeededIds::new(1));
        let store = Home::on(Arc::new(RealDisk), id_source.clone(), &home)
            .writable(Store::in_folder(dialect, &root));
        let runner = Runner::new(Arc::new(RealDisk), &home, id_source, Owner::this("test"));
        let key = path
            .strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let listed = store.list().unwrap().sessions;
        let id = listed
            .into_iter()
            .find(|it| it.key.as_deref() == Some(&key))
            .expect("the session is listed")
            .id;
        Bench {
            folder,
            store,
            runner,
            path,
            id,
        }
    }

    pub(crate) fn location(&self) -> SessionLocation {
        self.store.find(&self.id).unwrap()
    }

    pub(crate) fn repair(&self, level: Confidence) -> Repaired {
        let request = RepairRequest {
            level,
            ..RepairRequest::default()
        };
        self.runner
            .repair(&self.store, &self.location(), &request)
            .unwrap()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }

    /// Returns every file of the store with its bytes.
    pub(crate) fn tree(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        walk(&self.folder.path().join("store"), &mut found);
        found.sort();
        found
    }

    /// Returns the path of the session that a repair created.
    pub(crate) fn made(&self, id: &str) -> PathBuf {
        self.folder
            .path()
            .join("store")
            .join(self.store.find(id).unwrap().key.unwrap())
    }
}

fn walk(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        match entry.is_dir() {
            true => walk(&entry, found),
            false => found.push((entry.clone(), std::fs::read(&entry).unwrap())),
        }
    }
}
