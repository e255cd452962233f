//! Question sessions and transcripts in real folders, with real processes.

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
mod transcript_cleaning;
#[cfg(test)]
mod transcript_damage;
#[cfg(test)]
mod transcript_listing;
#[cfg(test)]
mod transcript_races;
#[cfg(test)]
mod transcript_scene;
#[cfg(test)]
mod transcripts;
#[cfg(test)]
mod waiting;
