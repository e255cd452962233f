//! Every tidy check, on this tree (which must pass) and on made-up ones (which must not); and the packages.

#[cfg(test)]
mod architecture;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod crate_direction;
#[cfg(test)]
mod dist;
#[cfg(test)]
mod error_texts;
#[cfg(test)]
mod file_length;
#[cfg(test)]
mod foreign_crates;
#[cfg(test)]
mod migrations;
#[cfg(test)]
mod mod_files;
#[cfg(test)]
mod module_docs;
#[cfg(test)]
mod schema_only;
#[cfg(test)]
mod self_contained;
#[cfg(test)]
mod sleep_in_tests;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod tree;
#[cfg(test)]
mod type_names;
#[cfg(test)]
mod unfinished;
