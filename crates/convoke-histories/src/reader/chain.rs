//! Files whose lines name the previous line: lines that were rewound are still in the file, but not
//! on the chain from its last line to its first.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Seek as _};

use serde::Deserialize;

use crate::assembly::digest;
use crate::lines::{LineText, Lines};
use crate::raw::RawText;

/// The longest file whose chain is followed, in lines; all lines of a longer one are read.
const LINES_MAX: u64 = 400_000;

/// The numbers of lines that are not on the chain.
#[derive(Debug, Default)]
pub(super) struct DeadLines(HashSet<u64>);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Link<'a> {
    #[serde(borrow, default)]
    uuid: RawText<'a>,
    #[serde(borrow, default)]
    parent_uuid: RawText<'a>,
}

impl DeadLines {
    pub(super) fn contains(&self, line: u64) -> bool {
        !self.0.is_empty() && self.0.contains(&line)
    }

    /// Follows the chain of a file.
    pub(super) fn find(mut file: File) -> io::Result<Self> {
        file.rewind()?;
        let mut lines = Lines::new(file, 0, 0);
        // A line's number and the hash of its parent, by the hash of its id.
        let mut links: HashMap<u64, (u64, Option<u64>)> = HashMap::new();
        let mut last = None;
        while let Some(line) = lines.next()? {
            let (LineText::Whole(text) | LineText::Unfinished(text)) = line.text else { continue };
            let Ok(link) = serde_json::from_slice::<Link<'_>>(text) else { continue };
            if link.uuid.as_str().is_empty() {
                continue;
            }
            let id = digest(link.uuid.as_str().as_bytes());
            let parent = link.parent_uuid.as_str();
            let parent = (!parent.is_empty()).then(|| digest(parent.as_bytes()));
            links.insert(id, (line.number, parent));
            last = Some(id);
            if line.number > LINES_MAX {
                return Ok(Self::default());
            }
        }
        Ok(Self(dead(&links, last)))
    }
}

fn dead(links: &HashMap<u64, (u64, Option<u64>)>, last: Option<u64>) -> HashSet<u64> {
    let mut alive = HashSet::new();
    let mut next = last;
    let mut first = u64::MAX;
    while let Some((line, parent)) = next.and_then(|id| links.get(&id)) {
        if !alive.insert(*line) {
            break;
        }
        (first, next) = (*line, *parent);
    }
    // Where the chain is broken, nothing is known about the lines before.
    let known_from = if next.is_none() { 0 } else { first };
    let all = links.values().map(|(line, _)| *line);
    all.filter(|line| *line >= known_from && !alive.contains(line)).collect()
}
