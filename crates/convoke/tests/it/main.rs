//! The built program as its users meet it: arguments and environment in; output, errors and exit code out.

#[cfg(test)]
mod agent;
#[cfg(test)]
mod agent_keys;
#[cfg(test)]
mod agent_registry;
#[cfg(test)]
mod agents_page;
#[cfg(test)]
mod answer;
#[cfg(test)]
mod ask;
#[cfg(test)]
mod attachments;
#[cfg(test)]
mod attention;
#[cfg(test)]
mod beginning;
#[cfg(test)]
mod bounds;
#[cfg(test)]
mod browser_cli;
#[cfg(test)]
mod changes;
#[cfg(test)]
mod comparing;
#[cfg(test)]
mod completions;
#[cfg(test)]
mod compose;
#[cfg(test)]
mod config;
#[cfg(test)]
mod confinement;
#[cfg(test)]
mod convoke;
#[cfg(test)]
mod daemon_cli;
#[cfg(test)]
mod daemon_scene;
#[cfg(test)]
mod db;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod erasing;
#[cfg(test)]
mod escapes;
#[cfg(test)]
mod findings;
#[cfg(test)]
mod frame;
// Elsewhere one process cannot limit another.
#[cfg(target_os = "linux")]
#[cfg(test)]
mod full_disk;
#[cfg(test)]
mod git_escapes;
#[cfg(test)]
mod guarding;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod histories_own;
#[cfg(test)]
mod home;
#[cfg(test)]
mod http_doors;
#[cfg(test)]
mod http_imports;
#[cfg(test)]
mod http_inbox;
#[cfg(test)]
mod http_sessions;
#[cfg(test)]
mod import_cli;
// Elsewhere one process cannot limit another.
#[cfg(target_os = "linux")]
#[cfg(test)]
mod importing;
#[cfg(test)]
mod importing_vibe;
#[cfg(test)]
mod inbox_cli;
#[cfg(test)]
mod interrupted;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod mcp_daemon;
#[cfg(test)]
mod mcp_proxy;
#[cfg(test)]
mod mentions;
#[cfg(test)]
mod moving;
#[cfg(test)]
mod moving_worktrees;
#[cfg(test)]
mod network;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod nodes_asks;
#[cfg(test)]
mod nodes_clocks;
#[cfg(test)]
mod nodes_shared;
#[cfg(test)]
mod nodes_teams;
// The kernel tells how peers are confined, and lets one process limit another.
#[cfg(target_os = "linux")]
#[cfg(test)]
mod opened;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod owner_channel;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod owner_home;
#[cfg(test)]
mod postgres_away;
#[cfg(test)]
mod postgres_faults;
#[cfg(test)]
mod project_cli;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod review;
#[cfg(test)]
mod rule_cli;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod sandbox_scene;
#[cfg(test)]
mod search;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod serve_scene;
#[cfg(test)]
mod session_backlog;
#[cfg(test)]
mod session_cli;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod socket_scene;
#[cfg(test)]
mod spawn;
#[cfg(test)]
mod spawn_scene;
#[cfg(test)]
mod spawn_talk;
#[cfg(test)]
mod spawn_terminal;
#[cfg(test)]
mod team_cli;
#[cfg(test)]
mod team_http;
#[cfg(test)]
mod team_mcp;
#[cfg(test)]
mod team_scene;
#[cfg(test)]
mod team_serve;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod tui;
#[cfg(test)]
mod tui_worktrees;
#[cfg(test)]
mod worktree_crash;
#[cfg(test)]
mod worktree_finish;
#[cfg(test)]
mod worktree_scene;
#[cfg(test)]
mod worktrees;
