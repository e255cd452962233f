//! Ranks hits with the index alone: by how close to each other the words are, then by how much of
//! the message they make up, then by time.
//!
//! FTS5's own `bm25` counts all messages that contain a word and looks up the length of each hit,
//! which takes 30 ms with a million messages.

use std::cmp::Reverse;
use std::iter::Peekable;
use std::ops::Range;
use std::slice;

use super::HitPlace;
use super::key::{KEY_BITS, Size};
use super::matching::Matching;
use super::sql;
use crate::db::{Db, Optional as _, Param, params};
use crate::error::Fault;

/// The newest messages with the rarest word that are ranked; older hits follow by time. Ranking
/// every match of common words would take too long.
const BEST_OF: u32 = 10_000;

/// The rarity of a word is estimated by how far back its newest messages reach, up to this many.
const SAMPLE: u32 = 250;

/// The longest message that is among the best if it repeats the words.
const SHORT_MAX: Size = Size::Medium;

/// How close to each other the words of a hit are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Proximity {
    /// One after the other.
    InARow,
    /// With few others between them.
    Near,
    /// Anywhere.
    Apart,
    /// Too old to be ranked.
    Older,
}

/// Whether the message repeats the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Emphasis {
    Repeated,
    Mentioned,
}

/// A hit among the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ranked {
    proximity: Proximity,
    emphasis: Emphasis,
    pub(super) key: i64,
}

impl Ranked {
    /// The sort key, least first. A long message that repeats the words ranks as high as a short
    /// one that has them once.
    fn rank(&self) -> (Proximity, u8, Reverse<i64>) {
        let size = Size::of_key(self.key) as u8;
        let about = match (self.proximity, self.emphasis) {
            (Proximity::Older, Emphasis::Repeated | Emphasis::Mentioned) => 0,
            (_, Emphasis::Repeated) => size / 2,
            (_, Emphasis::Mentioned) => size + 1,
        };
        (self.proximity, about, Reverse(self.key))
    }

    /// The cursor of this hit, with everything that determines its rank. Later messages change no
    /// rank, so pages do not overlap.
    pub(super) fn place(&self) -> HitPlace {
        let tier = match (self.proximity, self.emphasis) {
            (Proximity::InARow, Emphasis::Repeated) => 0,
            (Proximity::InARow, Emphasis::Mentioned) => 1,
            (Proximity::Near, Emphasis::Repeated) => 2,
            (Proximity::Near, Emphasis::Mentioned) => 3,
            (Proximity::Apart, Emphasis::Repeated) => 4,
            (Proximity::Apart, Emphasis::Mentioned) => 5,
            (Proximity::Older, Emphasis::Repeated | Emphasis::Mentioned) => 6,
        };
        HitPlace::new(tier << KEY_BITS | self.key.unsigned_abs())
    }

    fn at(place: HitPlace) -> Self {
        let (proximity, emphasis) = match place.get() >> KEY_BITS {
            0 => (Proximity::InARow, Emphasis::Repeated),
            1 => (Proximity::InARow, Emphasis::Mentioned),
            2 => (Proximity::Near, Emphasis::Repeated),
            3 => (Proximity::Near, Emphasis::Mentioned),
            4 => (Proximity::Apart, Emphasis::Repeated),
            5 => (Proximity::Apart, Emphasis::Mentioned),
            _ => (Proximity::Older, Emphasis::Mentioned),
        };
        let key = place.get() & ((1 << KEY_BITS) - 1);
        Self { proximity, emphasis, key: key.cast_signed() }
    }
}

/// The best hits after a cursor, whose keys are in a range.
pub(super) fn best(
    matching: &Matching<'_>,
    range: Range<i64>,
    after: Option<HitPlace>,
    limit: u32,
) -> Result<Vec<Ranked>, Fault> {
    let after = after.map(Ranked::at);
    let Some(all) = matching.all()? else { return Ok(Vec::new()) };
    let _snapshot = matching.db.snapshot()?;
    let mut found = Vec::new();
    let older = match after {
        Some(Ranked { proximity: Proximity::Older, key, .. }) => key,
        Some(_) | None => {
            let ranking = Ranking { matching, after, limit: limit as usize };
            found = ranking.first_of_one_word(&all, &range)?;
            if found.is_empty() { ranking.read(&all, &range, &mut found)? } else { range.start }
        }
    };
    let missing = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(limit));
    if missing > 0 {
        let range = range.start..older.min(range.end);
        let older = keys(matching.db, &all, &range, missing)?.into_iter();
        let (proximity, emphasis) = (Proximity::Older, Emphasis::Mentioned);
        found.extend(older.map(|key| Ranked { proximity, emphasis, key }));
    }
    Ok(found)
}

/// A page of ranked hits.
struct Ranking<'a> {
    matching: &'a Matching<'a>,
    after: Option<Ranked>,
    limit: usize,
}

impl Ranking<'_> {
    /// A whole page of the best hits for a single word: short messages that repeat it. A frequent
    /// word has enough of them, so that no other hit is read; for a rarer word the result is empty.
    fn first_of_one_word(&self, all: &str, range: &Range<i64>) -> Result<Vec<Ranked>, Fault> {
        let (proximity, emphasis) = (Proximity::Apart, Emphasis::Repeated);
        let best = |key| Ranked { proximity, emphasis, key };
        let before = match self.after {
            Some(after) if after == best(after.key) && Size::of_key(after.key) <= SHORT_MAX => {
                after.key
            }
            Some(_) => return Ok(Vec::new()),
            None => range.end,
        };
        let repeated = match self.matching.repeated()? {
            Some(repeated) if self.matching.is_one_word() => repeated,
            Some(_) | None => return Ok(Vec::new()),
        };
        let start = self.nth(all, range, BEST_OF)?.unwrap_or(range.start);
        let sql = sql::keys_of_size(self.matching.db, SHORT_MAX);
        let keys = read(
            self.matching.db,
            &sql,
            params![repeated, start, before.min(range.end), self.limit as u64, 0_u32],
        )?;
        let is_whole = keys.len() == self.limit;
        Ok(if is_whole { keys.into_iter().map(best).collect() } else { Vec::new() })
    }

    /// Adds hits until the page is full. Returns the key below which no hit was ranked.
    fn read(&self, all: &str, range: &Range<i64>, found: &mut Vec<Ranked>) -> Result<i64, Fault> {
        let (matching, db) = (self.matching, self.matching.db);
        let mut newest = self.newest(range)?..range.end;
        let kinds = [
            (Proximity::InARow, matching.in_a_row()?),
            (Proximity::Near, matching.near()?),
            (Proximity::Apart, Some(all.to_owned())),
        ];
        let kinds: Vec<(Proximity, String)> =
            kinds.into_iter().filter_map(|(proximity, words)| Some((proximity, words?))).collect();
        // The proximity before the cursor's is only read to exclude its hits from the next: words
        // in a row are also near, and so on.
        let reached = self.after.map_or(Proximity::InARow, |after| after.proximity);
        let first = kinds.iter().position(|(proximity, _)| *proximity >= reached).unwrap_or(0);
        let (mut closer, mut repeated) = (Vec::new(), None);
        for (proximity, words) in kinds.into_iter().skip(first.saturating_sub(1)) {
            let matched = keys(db, &words, &newest, BEST_OF)?;
            let is_full = proximity == Proximity::Apart && matched.len() == BEST_OF as usize;
            if let Some(last) = matched.last().filter(|_| is_full) {
                newest.start = *last;
            }
            if proximity >= reached && found.len() < self.limit {
                let repeated = match &repeated {
                    Some(keys) => keys,
                    None => repeated.insert(match matching.repeated()? {
                        Some(words) => keys(db, &words, &newest, BEST_OF)?,
                        None => Vec::new(),
                    }),
                };
                let (mut closer, mut repeated) =
                    (SortedKeys::new(&closer), SortedKeys::new(repeated));
                let rest = matched.iter().copied().filter(|key| !closer.has(*key));
                let hits = rest.map(|key| {
                    let is_repeated = repeated.has(key);
                    let emphasis =
                        if is_repeated { Emphasis::Repeated } else { Emphasis::Mentioned };
                    Ranked { proximity, emphasis, key }
                });
                self.add(found, hits);
            }
            if found.len() == self.limit {
                break;
            }
            closer = matched;
        }
        Ok(newest.start)
    }

    /// Adds the best of some hits.
    fn add(&self, found: &mut Vec<Ranked>, hits: impl Iterator<Item = Ranked>) {
        let after = self.after.map(|after| after.rank());
        let mut hits: Vec<Ranked> =
            hits.filter(|hit| after.is_none_or(|after| hit.rank() > after)).collect();
        let missing = self.limit - found.len();
        if missing < hits.len() {
            hits.select_nth_unstable_by_key(missing, Ranked::rank);
            hits.truncate(missing);
        }
        hits.sort_unstable_by_key(Ranked::rank);
        found.extend(hits);
    }

    /// The lowest key that is ranked. A single word is counted while its messages are read; of
    /// several words, the rarest counts, whose newest messages reach back furthest.
    fn newest(&self, range: &Range<i64>) -> Result<i64, Fault> {
        let mut rarest: Option<(i64, String)> = None;
        for words in self.matching.each()? {
            match self.nth(&words, range, SAMPLE)? {
                Some(key) if rarest.as_ref().is_some_and(|(rarest, _)| *rarest <= key) => {}
                Some(key) => rarest = Some((key, words)),
                None => return Ok(range.start),
            }
        }
        let Some((_, rarest)) = rarest else { return Ok(range.start) };
        Ok(self.nth(&rarest, range, BEST_OF)?.unwrap_or(range.start))
    }

    /// The key of the n-th newest message that matches.
    fn nth(&self, words: &str, range: &Range<i64>, n: u32) -> Result<Option<i64>, Fault> {
        let db = self.matching.db;
        let mut statement = db.prepare_cached(&sql::keys(db))?;
        let skipped = n - 1;
        let params = params![words, range.start, range.end, 1_u32, skipped];
        Ok(statement.query_row(params, |row| row.get(0)).optional()?)
    }
}

/// The newest messages that match, the newest first.
fn keys(db: Db<'_>, words: &str, range: &Range<i64>, limit: u32) -> Result<Vec<i64>, Fault> {
    read(db, &sql::keys(db), params![words, range.start, range.end, limit, 0_u32])
}

fn read(db: Db<'_>, sql: &str, params: &[Param<'_>]) -> Result<Vec<i64>, Fault> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        keys.push(row.get(0)?);
    }
    Ok(keys)
}

/// Sorted keys for membership tests; both sides are in descending order.
struct SortedKeys<'a> {
    keys: Peekable<slice::Iter<'a, i64>>,
}

impl<'a> SortedKeys<'a> {
    fn new(keys: &'a [i64]) -> Self {
        Self { keys: keys.iter().peekable() }
    }

    fn has(&mut self, key: i64) -> bool {
        while self.keys.next_if(|other| **other > key).is_some() {}
        self.keys.peek().is_some_and(|other| **other == key)
    }
}
