//! The whole server with a real engine and scripted agents, called without a network.

mod adoption;
mod auth;
mod bodies;
mod browsers;
mod inbox;
mod mcp;
mod messages;
mod page;
mod paging;
mod repos;
mod rules;
mod scene;
mod sessions;
mod shape;
mod socket;
mod stories;
mod teams;
mod users;
