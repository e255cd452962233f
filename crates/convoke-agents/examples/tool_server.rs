//! A server of tools on standard input and output, with a tool that echoes, for tests of real agents.

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    convoke_testkit::agent::serve_tools().await
}
