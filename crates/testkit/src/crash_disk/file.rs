//! An open file of the disk.

use std::io::{self, ErrorKind};

use boswell_store::disk::{DiskFile, LockMode, OpenMode, Stat};

use super::disk::CrashDisk;

#[derive(Debug)]
pub(super) struct CrashFile {
    pub(super) disk: CrashDisk,
    pub(super) node: u64,
    pub(super) handle: u64,
    pub(super) how: OpenMode,
}

impl CrashFile {
    fn may_write(&self) -> io::Result<()> {
        match self.how {
            OpenMode::Append | OpenMode::CreateNew | OpenMode::Lock | OpenMode::ExistingLock => {
                Ok(())
            }
            OpenMode::Read => Err(io::Error::new(
                ErrorKind::PermissionDenied,
                "not opened for writing",
            )),
        }
    }
}

impl DiskFile for CrashFile {
    fn stat(&self) -> io::Result<Stat> {
        let mut state = self.disk.lock();
        state.switches.look()?;
        state.stat(self.node)
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let mut state = self.disk.lock();
        state.switches.look()?;
        let bytes = &state.node(self.node)?.live.bytes;
        let rest = usize::try_from(at)
            .ok()
            .and_then(|at| bytes.get(at..))
            .unwrap_or(b"");
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        self.may_write()?;
        let mut state = self.disk.lock();
        let was_dead = state.switches.dead;
        if let Err(error) = state.switches.change() {
            if state.switches.dead && !was_dead {
                state.switches.torn = Some(bytes.len());
                let torn = state.switches.tear.min(bytes.len());
                let now = state.tick();
                state.node(self.node)?.append(&bytes[..torn], now);
            }
            return Err(error);
        }
        let room = state
            .switches
            .limit
            .map_or(u64::MAX, |limit| limit.saturating_sub(state.used()));
        let count = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        if count == 0 && !bytes.is_empty() {
            return Err(ErrorKind::StorageFull.into());
        }
        let now = state.tick();
        state.node(self.node)?.append(&bytes[..count], now);
        Ok(count)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.may_write()?;
        let mut state = self.disk.lock();
        state.switches.change()?;
        let now = state.tick();
        state.node(self.node)?.truncate(len, now);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.lock();
        state.switches.syncs += 1;
        state.switches.change()?;
        let calls = state.switches.calls;
        if state.switches.lie_after.is_some_and(|after| calls >= after) {
            state.switches.lie_after = None;
            state.node(self.node)?.drop_dirty_bytes();
            return Err(io::Error::other("bytes could not be written back"));
        }
        state.node(self.node)?.sync();
        Ok(())
    }

    fn set_mode_and_time(&self, mode: u32, modified: i128) -> io::Result<()> {
        let mut state = self.disk.lock();
        state.switches.change()?;
        let now = state.tick();
        state.node(self.node)?.set_mode(mode, modified, now);
        Ok(())
    }

    fn try_lock(&self, mode: LockMode) -> io::Result<bool> {
        let mut state = self.disk.lock();
        state.switches.look()?;
        let locks = &mut state.node(self.node)?.locks;
        let in_the_way = |(holder, held): &(u64, LockMode)| {
            *holder != self.handle && (mode == LockMode::Exclusive || *held == LockMode::Exclusive)
        };
        if locks.iter().any(in_the_way) {
            return Ok(false);
        }
        locks.retain(|(holder, _)| *holder != self.handle);
        locks.push((self.handle, mode));
        Ok(true)
    }
}

impl Drop for CrashFile {
    fn drop(&mut self) {
        let mut state = self.disk.lock();
        if let Some(node) = state.nodes.get_mut(&self.node) {
            node.locks.retain(|(holder, _)| *holder != self.handle);
            node.handles = node.handles.saturating_sub(1);
        }
        state.forget_the_nameless();
    }
}
