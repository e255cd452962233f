//! The drivers against processes that follow a script.

#[cfg(test)]
mod crashes;
#[cfg(test)]
mod running;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod turns;
