//! What the kernel offers to confine an agent with. Asking changes nothing for the one who asks.

/// The newest generation of Landlock rules that the running kernel takes, or `None` without Landlock.
///
/// A kernel that is newer than the newest generation known here answers with the latter.
pub fn landlock_generation() -> Option<u8> {
    #[cfg(target_os = "linux")]
    return linux::newest_generation();
    #[cfg(not(target_os = "linux"))]
    return None;
}

#[cfg(target_os = "linux")]
mod linux {
    //! Landlock is asked by making rule sets that are thrown away without being applied.

    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
        RulesetError, Scope,
    };

    /// Generations that brought a new kind of rule, newest first; those between them look alike from here.
    const GENERATIONS: [(u8, ABI); 7] = [
        (9, ABI::V9),
        (6, ABI::V6),
        (5, ABI::V5),
        (4, ABI::V4),
        (3, ABI::V3),
        (2, ABI::V2),
        (1, ABI::V1),
    ];

    pub(super) fn newest_generation() -> Option<u8> {
        // The reason of a refusal does not matter: an older generation is tried next.
        GENERATIONS.iter().find(|(_, abi)| make_rules(*abi).is_ok()).map(|(number, _)| *number)
    }

    fn make_rules(abi: ABI) -> Result<(), RulesetError> {
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(abi))?;
        // The crate refuses empty sets, which is what the older generations have here.
        if abi >= ABI::V4 {
            rules = rules.handle_access(AccessNet::from_all(abi))?;
        }
        if abi >= ABI::V6 {
            rules = rules.scope(Scope::from_all(abi))?;
        }
        rules.create().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_the_kernel_restricts_nobody() {
        let before = landlock_generation();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("still-writable"), "").unwrap();
        assert_eq!(landlock_generation(), before);
    }
}
