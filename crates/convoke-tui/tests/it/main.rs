//! A person at a real terminal, played by a program that types and reads the screen.

#[cfg(test)]
mod answering;
#[cfg(test)]
mod folder;
#[cfg(test)]
mod leaving;
#[cfg(test)]
mod person;
