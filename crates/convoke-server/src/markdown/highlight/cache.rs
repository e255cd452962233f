//! What was painted, by what it was painted from; the longest unused goes first when there is too much of it.

use std::sync::Arc;

use lru::LruCache;
use sha2::{Digest, Sha256};

/// All that is remembered together: some hundred blocks of code as people meet them.
const BYTES_MAX: usize = 4 << 20;

/// The fingerprint of code and its language. Agents choose the code, so it must not be possible to make two alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key([u8; 32]);

impl Key {
    pub(super) fn of(language: &str, code: &str) -> Self {
        let digest = Sha256::new_with_prefix(language).chain_update([0]).chain_update(code);
        Self(digest.finalize().into())
    }
}

/// Painted code.
pub(super) struct Cache {
    entries: LruCache<Key, Arc<str>>,
    bytes: usize,
}

impl Default for Cache {
    fn default() -> Self {
        Self { entries: LruCache::unbounded(), bytes: 0 }
    }
}

impl Cache {
    pub(super) fn get(&mut self, key: &Key) -> Option<Arc<str>> {
        self.entries.get(key).cloned()
    }

    pub(super) fn insert(&mut self, key: Key, html: Arc<str>) {
        self.bytes += cost(&html);
        if let Some((_, replaced)) = self.entries.push(key, html) {
            self.bytes -= cost(&replaced);
        }
        while self.bytes > BYTES_MAX
            && let Some((_, oldest)) = self.entries.pop_lru()
        {
            self.bytes -= cost(&oldest);
        }
    }
}

/// What an entry takes, its place in the table included.
fn cost(html: &str) -> usize {
    html.len() + 128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_forgets_what_was_unused_for_longest_and_never_grows_beyond_its_bound() {
        let mut cache = Cache::default();
        let big: Arc<str> = "x".repeat(BYTES_MAX / 4).into();
        let keys: Vec<Key> = (0..4).map(|n| Key::of("rust", &n.to_string())).collect();
        for key in &keys[..3] {
            cache.insert(*key, big.clone());
        }
        assert!(cache.get(&keys[0]).is_some());
        cache.insert(keys[3], big.clone());
        let kept: Vec<bool> = keys.iter().map(|key| cache.get(key).is_some()).collect();
        assert_eq!(kept, [true, false, true, true]);
        cache.insert(keys[3], big.clone());
        assert_eq!(cache.bytes, 3 * cost(&big));
        cache.insert(keys[1], "x".repeat(BYTES_MAX * 2).into());
        assert_eq!((cache.bytes, cache.entries.len()), (0, 0));
    }

    #[test]
    fn a_language_and_its_code_cannot_be_mistaken_for_another() {
        assert_ne!(Key::of("a", "bc"), Key::of("ab", "c"));
    }
}
