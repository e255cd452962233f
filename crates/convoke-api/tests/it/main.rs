//! The client against a server that says exactly what a test wants it to.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod streams;
