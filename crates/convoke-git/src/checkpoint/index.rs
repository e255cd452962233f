//! Reads Convoke's index, in the format of gitformat-index(5): its entries, and the trees that git
//! has cached in it.

use std::collections::HashMap;

/// The bytes before the path of an entry: ten numbers, the id and the flags.
const ENTRY_BYTES: usize = 62;

/// The offset of the mode in an entry.
const MODE_AT: usize = 24;

/// The offset of the id in an entry, and its length.
const ID_AT: usize = 40;
const ID_BYTES: usize = 20;

/// Bits of an entry's flags that only unusual entries have: "extended", and the stage of a conflict.
const UNUSUAL_FLAGS: u16 = 0x7000;

/// A file in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub(super) mode: u32,
    pub(super) id: &'a [u8],
    pub(super) path: &'a [u8],
}

/// A folder of the index whose tree git wrote before; without an id when a file below it has changed since.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CachedTree<'a> {
    /// The tree, and how many entries it covers.
    pub(super) tree: Option<(&'a [u8], usize)>,
    pub(super) folders: HashMap<&'a [u8], Self>,
}

/// An index without conflicts and other unusual entries.
#[derive(Debug)]
pub(super) struct Index<'a> {
    /// In the order of their paths.
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) root: CachedTree<'a>,
}

impl<'a> Index<'a> {
    /// `None` for any index in another form than Convoke has git write; git then reads it itself.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(b"DIRC\0\0\0\x02")?;
        let count = number(&mut rest)?;
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(entry(&mut rest)?);
        }
        let mut root = CachedTree::default();
        // The digest of the whole ends the file.
        while rest.len() > ID_BYTES {
            let name = take(&mut rest, 4)?;
            let length = usize::try_from(number(&mut rest)?).ok()?;
            let mut extension = take(&mut rest, length)?;
            // Git allows to skip an extension that begins with a capital letter, and no other.
            match name {
                b"TREE" => root = cached_tree(&mut extension)?.1,
                [b'A'..=b'Z', ..] => {}
                _ => return None,
            }
        }
        Some(Self { entries, root })
    }
}

fn entry<'a>(rest: &mut &'a [u8]) -> Option<Entry<'a>> {
    let fixed = rest.get(..ENTRY_BYTES)?;
    let mode = u32::from_be_bytes(fixed.get(MODE_AT..MODE_AT + 4)?.try_into().ok()?);
    let id = fixed.get(ID_AT..ID_AT + ID_BYTES)?;
    let flags = u16::from_be_bytes(fixed.get(ID_AT + ID_BYTES..)?.try_into().ok()?);
    let path = rest.get(ENTRY_BYTES..)?;
    let path = path.get(..path.iter().position(|byte| *byte == 0)?)?;
    // Entries are padded with one to eight zero bytes to a multiple of eight.
    take(rest, (ENTRY_BYTES + path.len()) / 8 * 8 + 8)?;
    let is_usual = flags & UNUSUAL_FLAGS == 0 && !path.is_empty();
    is_usual.then_some(Entry { mode, id, path })
}

/// Reads a folder's name and tree, and the folders below it.
fn cached_tree<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], CachedTree<'a>)> {
    let name = until(rest, 0)?;
    let count = std::str::from_utf8(until(rest, b' ')?).ok()?.parse::<i64>().ok()?;
    let below = std::str::from_utf8(until(rest, b'\n')?).ok()?.parse::<usize>().ok()?;
    let mut found = CachedTree::default();
    if let Ok(count) = usize::try_from(count) {
        found.tree = Some((take(rest, ID_BYTES)?, count));
    }
    for _ in 0..below {
        let (name, folder) = cached_tree(rest)?;
        found.folders.insert(name, folder);
    }
    Some((name, found))
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(take(rest, 4)?.try_into().ok()?))
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

/// The bytes before a delimiter, which is skipped.
fn until<'a>(rest: &mut &'a [u8], end: u8) -> Option<&'a [u8]> {
    let at = rest.iter().position(|byte| *byte == end)?;
    let found = take(rest, at)?;
    take(rest, 1)?;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_the_bytes_are_reading_ends_without_a_panic() {
        let mut bytes = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
        bytes.extend([0; MODE_AT]);
        bytes.extend(0o100_644_u32.to_be_bytes());
        bytes.extend([0; ID_AT - MODE_AT - 4]);
        bytes.extend([7; ID_BYTES]);
        bytes.extend(5_u16.to_be_bytes());
        bytes.extend(b"a/b.c\0\0\0\0\0");
        bytes.extend(b"TREE\0\0\0\x33\0-1 1\na\x001 0\n");
        let tree_at = bytes.len();
        bytes.extend([9; ID_BYTES]);
        let length = u32::try_from(bytes.len() - tree_at + 12).unwrap();
        let length_at = tree_at - 16;
        bytes.splice(length_at..length_at + 4, length.to_be_bytes());
        bytes.extend([0; ID_BYTES]);
        let index = Index::parse(&bytes).unwrap();
        assert_eq!(index.entries, [Entry { mode: 0o100_644, id: &[7; 20], path: b"a/b.c" }]);
        assert_eq!(index.root.tree, None);
        let folder = index.root.folders.get(b"a".as_slice()).unwrap();
        assert_eq!(folder.tree, Some(([9; 20].as_slice(), 1)));
        for length in 0..bytes.len() {
            let cut = Index::parse(bytes.get(..length).unwrap());
            assert!(cut.is_none_or(|cut| cut.entries.len() == 1), "{length}");
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                *damaged.get_mut(length).unwrap() = value;
                Index::parse(&damaged);
            }
        }
    }
}
