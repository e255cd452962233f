//! Question sessions in real folders, with real processes.

#[cfg(test)]
mod asking;
#[cfg(test)]
mod cleaning;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod races;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod settling;
#[cfg(test)]
mod waiting;
