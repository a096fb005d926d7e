//! Folders with a JSON file for each row, read as the tables of a database.
//!
//! A row has the columns `id` (the name of its file), the owner (the name of its folder),
//! `time_created` and `data` (the text of the file). Nothing is kept in memory but names.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use boswell_dialect::{
    Cell, Column, FileInfo, RowFolder, RowFolders, RowKey, RowSelect, RowSource, RowStamp,
};
use boswell_model::json::Raw;
use boswell_model::{Error, ErrorKind, Result};

use super::Backend;

/// A larger file is not read: a message of an agent is far smaller.
const LARGEST: u64 = 256 << 20;

/// Rows that are files.
#[derive(Debug)]
pub(super) struct FolderRows {
    backend: Arc<dyn Backend>,
    folders: RowFolders,
    /// The file of each key that was handed out: a key is an index.
    files: Mutex<Vec<String>>,
    /// The files of whole tables, which are listed once.
    listed: Mutex<HashMap<&'static str, Arc<[FileInfo]>>>,
}

impl FolderRows {
    pub(super) fn new(backend: Arc<dyn Backend>, folders: RowFolders) -> FolderRows {
        FolderRows {
            backend,
            folders,
            files: Mutex::default(),
            listed: Mutex::default(),
        }
    }

    fn table(&self, name: &str) -> Option<&'static RowFolder> {
        self.folders.tables.iter().find(|table| table.name == name)
    }

    fn in_folder(&self, table: &RowFolder, owner: &str) -> Result<Vec<FileInfo>> {
        let folder = format!("{}/{}/{owner}", self.folders.folder, table.name);
        let mut files = self.backend.list(&folder)?;
        files.retain(|info| info.is_file() && info.stem(".json").is_some());
        Ok(files)
    }

    fn all(&self, table: &'static RowFolder) -> Result<Arc<[FileInfo]>> {
        let listed = || self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = listed().get(table.name) {
            return Ok(Arc::clone(known));
        }
        let mut found = Vec::new();
        let folder = format!("{}/{}", self.folders.folder, table.name);
        for owner in self.backend.list(&folder)? {
            if owner.is_folder() {
                found.extend(self.in_folder(table, owner.name())?);
            }
        }
        let found: Arc<[FileInfo]> = found.into();
        listed().insert(table.name, Arc::clone(&found));
        Ok(found)
    }

    /// Returns the files of the selected rows.
    fn selected(&self, select: &RowSelect<'_>) -> Result<Vec<FileInfo>> {
        let Some(table) = self.table(select.table) else {
            return Ok(Vec::new());
        };
        match select.only {
            None => Ok(self.all(table)?.to_vec()),
            // A name with a slash would leave the folder.
            Some((_, value)) if value.contains(['/', '\\']) || value.starts_with('.') => {
                Ok(Vec::new())
            }
            Some((column, owner)) if column == table.owner => self.in_folder(table, owner),
            Some(("id", id)) => {
                let mut found = self.all(table)?.to_vec();
                let named = |info: &FileInfo| info.stem(".json") == Some(id);
                if found.iter().any(named) {
                    found.retain(named);
                    return Ok(found);
                }
                // The name of a file may differ from the id in it.
                found.retain(|info| self.stated_id(&info.key).as_deref() == Some(id));
                Ok(found)
            }
            Some(_) => Ok(Vec::new()),
        }
    }

    fn stated_id(&self, file: &str) -> Option<String> {
        let text = self.text(file).ok()??;
        let raw = Raw::parse(text.trim_ascii()).ok()?;
        Some(raw.get("id")?.text()?.into_owned())
    }

    fn key_of(&self, file: String) -> RowKey {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.push(file);
        RowKey(i64::try_from(files.len()).unwrap_or(i64::MAX))
    }

    fn file_of(&self, key: RowKey) -> Option<String> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let index = usize::try_from(key.0).ok()?.checked_sub(1)?;
        files.get(index).cloned()
    }

    fn text(&self, file: &str) -> Result<Option<Vec<u8>>> {
        match self.backend.stat(file)? {
            Some(info) if info.is_file() && info.size <= LARGEST => {
                self.backend.open(file)?.read(0, info.size).map(Some)
            }
            Some(info) if info.is_file() => Err(Error::new(
                ErrorKind::Invalid,
                format!("`{file}` is {} bytes long, too long for a row", info.size),
            )),
            _ => Ok(None),
        }
    }

    /// Returns the time in a file, by which rows are sorted; those without come first.
    fn created(&self, file: &str) -> Result<i64> {
        let text = self.text(file)?.unwrap_or_default();
        let time = Raw::parse(text.trim_ascii()).ok();
        let time = time.and_then(|raw| raw.get("time")?.get("created")?.i64());
        Ok(time.unwrap_or(0))
    }
}

impl RowSource for FolderRows {
    fn tables(&self) -> Result<Vec<String>> {
        let names = self.folders.tables.iter().map(|table| table.name);
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        Ok(names)
    }

    fn keys(&self, select: &RowSelect<'_>) -> Result<Vec<RowKey>> {
        let files = self.selected(select)?;
        let mut sorted = Vec::new();
        for info in files {
            let created = match select.order.contains(&"time_created") {
                true => self.created(&info.key)?,
                false => 0,
            };
            sorted.push((created, info.key));
        }
        sorted.sort();
        let keys = sorted.into_iter().map(|(_, file)| self.key_of(file));
        Ok(keys.collect())
    }

    fn row(&self, table: &str, key: RowKey, sink: &mut dyn FnMut(&[Column<'_>])) -> Result<bool> {
        let (Some(table), Some(file)) = (self.table(table), self.file_of(key)) else {
            return Ok(false);
        };
        let Some(text) = self.text(&file)? else {
            return Ok(false);
        };
        let mut names = file.rsplit('/');
        let name = names.next().unwrap_or_default();
        let name = name.strip_suffix(".json").unwrap_or(name);
        let owner = names.next().unwrap_or_default();
        let data = match std::str::from_utf8(text.trim_ascii()) {
            Ok(text) => Cell::Text(text),
            Err(_) => Cell::Bytes(&text),
        };
        // The id in the file is the one that others name; the file's own name may differ.
        let stated = Raw::parse(text.trim_ascii()).ok();
        let stated = stated.and_then(|raw| raw.get("id")?.text());
        let id = stated.as_deref().unwrap_or(name);
        sink(&[
            ("id", Cell::Text(id)),
            (table.owner, Cell::Text(owner)),
            ("data", data),
        ]);
        Ok(true)
    }

    fn stamp(&self, select: &RowSelect<'_>, _changed: Option<&str>) -> Result<RowStamp> {
        let mut stamp = RowStamp::default();
        for info in self.selected(select)? {
            let at = info.modified.map_or(0, |at| at.millis());
            let text = format!("{} {} {at}", info.key, info.size);
            let of_file = RowStamp::of_row(RowKey(1), std::iter::once(Cell::Text(&text)));
            stamp.rows += 1;
            stamp.state = stamp.state.wrapping_add(of_file.state);
        }
        Ok(stamp)
    }

    /// Names do not tell which file is the newest, and a listing shows all of them at once.
    fn newest(&self, select: &RowSelect<'_>, _columns: &[&str]) -> Result<RowStamp> {
        self.stamp(select, None)
    }
}
