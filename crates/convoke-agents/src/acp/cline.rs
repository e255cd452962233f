//! Passes MCP servers to Cline in its settings file, whose path an environment variable sets.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::catalogue::Tools;
use crate::driver::{Launch, Random};
use crate::tool_servers::File;

/// The variable with the path of the file.
const VARIABLE: &str = "CLINE_MCP_SETTINGS_PATH";
/// The path of the file in the user's home if the variable is not set.
const FILE: &str = ".cline/data/settings/cline_mcp_settings.json";

/// Bytes of the user's file that are read.
const BYTES_MAX: u64 = 1024 * 1024;

/// Writes a settings file with the servers of the launch and those of the user, and sets the
/// variable. The file is removed when the returned value is dropped.
pub(super) fn settings(launch: &mut Launch, random: Random) -> io::Result<Option<File>> {
    match launch.tools {
        Tools::Cline => {}
        Tools::Stdio | Tools::Http | Tools::None => return Ok(None),
    }
    let file = File::write(launch, servers_of_user(launch), random)?;
    if let Some(file) = &file {
        let path = OsString::from(file.path());
        launch.environment.insert(VARIABLE.into(), path);
    }
    Ok(file)
}

/// The servers in the user's own settings; none if those cannot be read.
fn servers_of_user(launch: &Launch) -> Map<String, Value> {
    let variable = |name: &str| launch.environment.get(OsStr::new(name)).map(PathBuf::from);
    let own = variable("HOME").map(|home| home.join(FILE));
    let Some(path) = variable(VARIABLE).or(own) else { return Map::new() };
    match read(&path) {
        Ok(Value::Object(mut settings)) => match settings.remove("mcpServers") {
            Some(Value::Object(servers)) => servers,
            Some(_) | None => Map::new(),
        },
        Ok(_) => Map::new(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Map::new(),
        Err(error) => {
            tracing::warn!(path = %path.display(), "cannot read Cline's servers of tools: {error}");
            Map::new()
        }
    }
}

fn read(path: &Path) -> io::Result<Value> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    Ok(serde_json::from_reader(BufReader::new(fs::File::open(path)?.take(BYTES_MAX)))?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::acp::tests::scene::launch;
    use crate::driver::{McpServer, Start};

    use super::*;

    #[test]
    fn l1_cline_gets_our_tools_beside_those_of_its_user() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join(FILE);
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        fs::write(&own, r#"{"mcpServers":{"mine":{"command":"x"}}}"#).unwrap();
        let start = Start::New { id: String::new() };
        let mut launch = launch(home.path().to_owned(), start);
        launch.tools = Tools::Cline;
        launch.environment = BTreeMap::from([
            ("HOME".into(), home.path().into()),
            ("TMPDIR".into(), home.path().into()),
        ]);
        launch.mcp_servers = vec![McpServer {
            name: "convoke".to_owned(),
            command: "/opt/convoke".into(),
            args: vec!["mcp".to_owned()],
            env: BTreeMap::from([("KEY".to_owned(), "secret".to_owned())]),
            http: None,
        }];
        let file = settings(&mut launch, || [7; 16]).unwrap().unwrap();
        let path = PathBuf::from(&launch.environment[OsStr::new(VARIABLE)]);
        insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"{"mcpServers":{"convoke":{"args":["mcp"],"command":"/opt/convoke","env":{"KEY":"secret"},"type":"stdio"},"mine":{"command":"x"}}}"#);
        drop(file);
        assert!(!path.exists());
    }
}
