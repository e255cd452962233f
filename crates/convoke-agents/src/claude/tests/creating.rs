//! Sessions that are made without being used.

use super::super::*;
use super::{ID, launch};

/// Makes the file that `claude` would make.
const MAKE_FILE: &str = r#"
    folder="$HOME/.claude/projects/$(pwd | tr -c 'a-zA-Z0-9\n' -)"
    mkdir -p "$folder" && touch "$folder/$2.jsonl"
"#;

#[tokio::test]
async fn t11_a_session_is_created_by_a_ping_and_its_file_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(r#"cat; echo "$@" > args; {MAKE_FILE} echo pong"#);
    let launch = launch(folder.path(), &script);
    let file = create_session(&launch, ID).await.unwrap();
    assert_eq!(file, session_file(&launch.workspace, &launch.workspace, ID));
    let args = std::fs::read_to_string(launch.workspace.join("args")).unwrap();
    assert_eq!(args, format!("--session-id {ID} --print ping\n"));
}

#[tokio::test]
async fn t11_a_session_lies_in_the_folder_that_the_environment_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut launch = launch(folder.path(), "");
    launch.environment.insert("CLAUDE_CONFIG_DIR".into(), "/elsewhere".into());
    let error = create_session(&launch, ID).await.unwrap_err().to_string();
    assert!(error.contains("it made no session at /elsewhere/projects/-"), "{error}");
    launch.environment.clear();
    let error = create_session(&launch, ID).await.unwrap_err().to_string();
    assert_eq!(error, "the agent returned an error: Claude needs a HOME to keep its sessions in");
}

#[tokio::test(start_paused = true)]
async fn t12_a_session_that_is_not_created_in_time_is_given_up_and_its_process_killed() {
    let folder = tempfile::tempdir().unwrap();
    let launch = launch(folder.path(), "sleep 600");
    let error = create_session(&launch, ID).await.unwrap_err().to_string();
    assert_eq!(error, "Session initialization timed out after 30000ms");
}

#[tokio::test]
async fn t4_a_used_id_is_burned() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"echo "Error: Session ID $2 is already in use." >&2; exit 1"#;
    let error = create_session(&launch(folder.path(), script), ID).await.unwrap_err();
    assert!(matches!(&error, Error::IdTaken { id } if id == ID), "{error}");
    let error = start(launch(folder.path(), script), || [7; 16], mpsc::channel(1).0).await;
    let error = error.unwrap_err();
    assert!(error.to_string().contains("is already in use"), "{error}");
}

#[tokio::test]
async fn a_missing_login_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo 'Not logged in · Please run /login'; exit 1";
    let error = create_session(&launch(folder.path(), script), ID).await.unwrap_err();
    assert_eq!(error.to_string(), "the agent asks for a login: Not logged in · Please run /login");
}

#[tokio::test]
async fn an_id_that_could_be_an_option_or_a_path_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let launch = launch(folder.path(), "touch started");
    for id in
        ["", "abc", "--dangerously-skip-permissions", "../../../../../../../../../etc/passwd!"]
    {
        create_session(&launch, id).await.unwrap_err();
        for start_as in
            [Start::New { id: id.to_owned() }, Start::Resume { agent_session: id.to_owned() }]
        {
            let launch = Launch { start: start_as, ..launch.clone() };
            start(launch, || [7; 16], mpsc::channel(1).0).await.unwrap_err();
        }
    }
    assert!(!launch.workspace.join("started").exists());
}
