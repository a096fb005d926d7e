//! The calls of the crash disk.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use boswell_store::disk::{
    Disk, DiskFile, OpenMode, ProcessState, Processes, Sleep, Stat, process_state,
};

use super::disk::CrashDisk;
use super::file::CrashFile;
use super::names::Name;
use super::state::State;

impl Disk for CrashDisk {
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.lock();
        let there = state.find(path);
        // Only a call that creates a file changes something.
        let makes = match how {
            OpenMode::Read | OpenMode::Append | OpenMode::ExistingLock => false,
            OpenMode::CreateNew => true,
            OpenMode::Lock => matches!(there, Ok(None)),
        };
        if makes {
            state.switches.change()?
        } else {
            state.switches.look()?
        }
        let node = match (there?, how) {
            (Some(_), OpenMode::CreateNew) => return Err(ErrorKind::AlreadyExists.into()),
            (Some(node), _) => node,
            (None, OpenMode::CreateNew | OpenMode::Lock) => {
                let name = state.name(path)?;
                state.make(name, false)
            }
            (None, _) => return Err(ErrorKind::NotFound.into()),
        };
        if state.is_folder(node) {
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        let handle = state.handle(node);
        drop(state);
        Ok(Box::new(CrashFile {
            disk: self.clone(),
            node,
            handle,
            how,
        }))
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        let mut state = self.lock();
        state.switches.look()?;
        match state.find(path) {
            Ok(Some(node)) => state.stat(node).map(Some),
            Ok(None) => Ok(None),
            Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<(String, Stat)>> {
        let mut state = self.lock();
        state.switches.look()?;
        let folder = folder(&state, path)?;
        state
            .names
            .in_folder(folder)
            .map(|(name, node)| Ok((name.to_owned(), state.stat(node)?)))
            .collect()
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let mut state = self.lock();
        state.switches.change()?;
        let name = free_name(&state, path)?;
        state.make(name, true);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.lock();
        state.switches.change()?;
        let (old, new) = (state.name(from)?, state.name(to)?);
        let node = state.must_find(from)?;
        if from != to && to.starts_with(from) {
            return Err(ErrorKind::InvalidInput.into());
        }
        if from != to && from.starts_with(to) {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        match state.find(to)? {
            // Two names of one file: POSIX requires that nothing happens.
            Some(there) if there == node => return Ok(()),
            Some(there) => may_replace(&state, node, there)?,
            None => {}
        }
        let now = state.tick();
        state.entry_changed(old.0, now);
        state.entry_changed(new.0, now);
        state.node(node)?.changed = now;
        state.names.rename(old, new, node);
        state.forget_the_nameless();
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.lock();
        state.switches.change()?;
        let node = state.must_find(from)?;
        let name = free_name(&state, to)?;
        if state.is_folder(node) {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let now = state.tick();
        state.entry_changed(name.0, now);
        state.node(node)?.changed = now;
        state.names.set(name, node);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.lock();
        state.switches.change()?;
        let node = state.must_find(path)?;
        if state.is_folder(node) {
            return Err(ErrorKind::IsADirectory.into());
        }
        take_away(&mut state, path, node, None)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let mut state = self.lock();
        state.switches.change()?;
        let node = folder(&state, path)?;
        if state.names.in_folder(node).next().is_some() {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        take_away(&mut state, path, node, Some(node))
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let mut state = self.lock();
        state.switches.syncs += 1;
        state.switches.change()?;
        let folder = folder(&state, path)?;
        state.names.sync(folder);
        state.forget_the_nameless();
        Ok(())
    }

    fn write_again(&self, path: &Path, file: (u64, u64), bytes: &[u8], at: u64) -> io::Result<()> {
        let mut state = self.lock();
        state.switches.change()?;
        let node = state.must_find(path)?;
        let (same, from) = (
            state.stat(node)?.identity == file,
            usize::try_from(at).unwrap_or(usize::MAX),
        );
        let there = state
            .node(node)?
            .live
            .bytes
            .get(from..from.saturating_add(bytes.len()));
        if !same || there != Some(bytes) {
            return Err(ErrorKind::NotFound.into());
        }
        let now = state.tick();
        state.node(node)?.write_again(bytes, at, now);
        Ok(())
    }
}

/// Its locks belong to processes of this machine.
impl Processes for CrashDisk {
    fn process_state(&self, pid: u32) -> ProcessState {
        process_state(pid)
    }
}

impl Sleep for CrashDisk {
    fn sleep(&self, time: Duration) {
        self.lock().now += i128::try_from(time.as_nanos()).unwrap_or(0);
        // Time passes faster, but a waiting thread must let other threads run.
        std::thread::sleep(time / 100);
    }
}

fn folder(state: &State, path: &Path) -> io::Result<u64> {
    let node = state.must_find(path)?;
    if state.is_folder(node) {
        Ok(node)
    } else {
        Err(ErrorKind::NotADirectory.into())
    }
}

fn free_name(state: &State, path: &Path) -> io::Result<Name> {
    match state.find(path)? {
        Some(_) => Err(ErrorKind::AlreadyExists.into()),
        None => state.name(path),
    }
}

fn may_replace(state: &State, node: u64, there: u64) -> io::Result<()> {
    match (state.is_folder(node), state.is_folder(there)) {
        (false, false) => Ok(()),
        (false, true) => Err(ErrorKind::IsADirectory.into()),
        (true, false) => Err(ErrorKind::NotADirectory.into()),
        (true, true) if state.names.in_folder(there).next().is_some() => {
            Err(ErrorKind::DirectoryNotEmpty.into())
        }
        (true, true) => Ok(()),
    }
}

fn take_away(state: &mut State, path: &Path, node: u64, emptied: Option<u64>) -> io::Result<()> {
    let name = state.name(path)?;
    let now = state.tick();
    state.entry_changed(name.0, now);
    state.node(node)?.changed = now;
    state.names.unset(name, emptied);
    state.forget_the_nameless();
    Ok(())
}
