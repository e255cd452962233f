//! The built program as its users meet it: arguments and environment in; output, errors and exit code out.

#[cfg(test)]
mod agent;
#[cfg(test)]
mod answer;
#[cfg(test)]
mod ask;
#[cfg(test)]
mod completions;
#[cfg(test)]
mod config;
#[cfg(test)]
mod convoke;
#[cfg(test)]
mod db;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod frame;
#[cfg(test)]
mod home;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod terminal;
