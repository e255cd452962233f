//! Patterns with wildcards, for a name and for a path of several names.
//!
//! Agents write these patterns, so matching takes no memory, and no more steps than the lengths of
//! the pattern and the path multiplied. A regular expression for each pattern would be faster at
//! times, but one hundred patterns of twenty bytes were enough to fill 500 MB with the states of
//! their automata, and deeply nested ones overflowed the stack.

/// A pattern for one name.
#[derive(Debug)]
pub(super) struct NameGlob(Box<[Token]>);

#[derive(Debug)]
enum Token {
    Character(char),
    /// `?`
    One,
    /// `*`
    Any,
    /// `[…]`
    Class(Class),
}

#[derive(Debug)]
struct Class {
    /// What a character in one of the ranges means for the match.
    membership: Membership,
    ranges: Box<[(char, char)]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Membership {
    Inside,
    Outside,
}

impl NameGlob {
    pub(super) fn parse(pattern: &str) -> Self {
        let mut tokens: Vec<Token> = Vec::new();
        let mut rest = pattern.chars();
        // Without it, the end of a long pattern would be searched again for every open bracket.
        let mut is_class_possible = true;
        while let Some(character) = rest.next() {
            tokens.push(match character {
                '?' => Token::One,
                '*' if matches!(tokens.last(), Some(Token::Any)) => continue,
                '*' => Token::Any,
                '\\' => Token::Character(rest.next().unwrap_or('\\')),
                '[' if is_class_possible => match Class::parse(rest.as_str()) {
                    Some((class, after)) => {
                        rest = after.chars();
                        Token::Class(class)
                    }
                    None => {
                        is_class_possible = false;
                        Token::Character('[')
                    }
                },
                _ => Token::Character(character),
            });
        }
        Self(tokens.into())
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        let (mut tokens, mut name) = (&*self.0, name);
        // Where the last `*` stands, and what is left of the name behind what it has taken.
        // It alone is tried again: whatever an earlier one may take, this one may take as well.
        let mut retry: Option<(&[Token], &str)> = None;
        loop {
            let mut characters = name.chars();
            match (tokens.split_first(), characters.next()) {
                (None, None) => return true,
                (Some((Token::Any, [])), _) => return true,
                (Some((Token::Any, after)), _) => {
                    retry = Some((after, name));
                    tokens = after;
                    continue;
                }
                (Some((token, after)), Some(character)) if token.matches(character) => {
                    tokens = after;
                    name = characters.as_str();
                    continue;
                }
                (Some(_), _) | (None, Some(_)) => {}
            }
            let Some((after, taken)) = retry else { return false };
            let mut characters = taken.chars();
            if characters.next().is_none() {
                return false;
            }
            retry = Some((after, characters.as_str()));
            (tokens, name) = (after, characters.as_str());
        }
    }
}

impl Token {
    fn matches(&self, character: char) -> bool {
        match self {
            Self::Character(own) => *own == character,
            Self::One | Self::Any => true,
            Self::Class(class) => class.matches(character),
        }
    }
}

impl Class {
    /// Parses what follows an open bracket; `None` if nothing closes it.
    fn parse(text: &str) -> Option<(Self, &str)> {
        let negated = text.strip_prefix(['!', '^']);
        let membership = if negated.is_some() { Membership::Outside } else { Membership::Inside };
        let mut rest = negated.unwrap_or(text).chars();
        let mut ranges = Vec::new();
        loop {
            let first = match rest.next()? {
                ']' if !ranges.is_empty() => break,
                '\\' => rest.next()?,
                character => character,
            };
            // A hyphen before the closing bracket stands for itself.
            let range = rest.as_str().strip_prefix('-').filter(|end| !end.starts_with(']'));
            let Some(end) = range else {
                ranges.push((first, first));
                continue;
            };
            rest = end.chars();
            let last = match rest.next()? {
                '\\' => rest.next()?,
                character => character,
            };
            ranges.push((first, last));
        }
        Some((Self { membership, ranges: ranges.into() }, rest.as_str()))
    }

    fn matches(&self, character: char) -> bool {
        let is_inside =
            self.ranges.iter().any(|(first, last)| (first..=last).contains(&&character));
        is_inside == (self.membership == Membership::Inside)
    }
}

/// A pattern for a path.
#[derive(Debug)]
pub(super) struct PathGlob(Box<[Part]>);

#[derive(Debug)]
enum Part {
    Name(NameGlob),
    /// `**`: any number of names.
    Names,
}

impl PathGlob {
    pub(super) fn parse(pattern: &str) -> Self {
        let part = |part: &str| match part {
            // More stars are no different, to git.
            stars if stars.len() >= 2 && stars.bytes().all(|byte| byte == b'*') => Part::Names,
            name => Part::Name(NameGlob::parse(name)),
        };
        let mut parts: Vec<Part> = pattern.split('/').map(part).collect();
        // `folder/**` is for what is in the folder, and not for the folder.
        if let [_, .., Part::Names] = parts.as_slice() {
            parts.push(Part::Name(NameGlob::parse("*")));
        }
        Self(parts.into())
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let (mut parts, mut path) = (&*self.0, Some(path));
        // As for a name, with `**` instead of `*`.
        let mut retry: Option<(&[Part], Option<&str>)> = None;
        loop {
            match (parts.split_first(), path) {
                (None, None) => return true,
                (Some((Part::Names, after)), _) => {
                    retry = Some((after, path));
                    parts = after;
                    continue;
                }
                (Some((Part::Name(glob), after)), Some(names)) => {
                    let (name, below) = split(names);
                    if glob.matches(name) {
                        (parts, path) = (after, below);
                        continue;
                    }
                }
                (Some((Part::Name(_), _)), None) | (None, Some(_)) => {}
            }
            let Some((after, Some(taken))) = retry else { return false };
            let below = split(taken).1;
            retry = Some((after, below));
            (parts, path) = (after, below);
        }
    }
}

/// The first name of a path, and what is below it.
fn split(path: &str) -> (&str, Option<&str>) {
    path.split_once('/').map_or((path, None), |(name, below)| (name, Some(below)))
}
