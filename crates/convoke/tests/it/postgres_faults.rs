//! A PostgreSQL server that cannot be used: what the user reads, and the way out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use convoke_testkit::bench::random::Random;
use convoke_testkit::postgres::{Database, Server, database};

use crate::convoke::Convoke;
use crate::daemon_scene::Scene;

/// A machine whose daemon uses this database.
fn machine(url: &str) -> Scene {
    named(url, "laptop")
}

fn named(url: &str, name: &str) -> Scene {
    let scene = Scene::on(Convoke::new());
    write(&scene, url, name);
    scene
}

fn write(scene: &Scene, url: &str, name: &str) {
    let config = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n[store]\nurl = \"{url}\"\n[node]\nname = \"{name}\"\n"
    );
    fs::write(scene.machine.home().join("config.toml"), config).unwrap();
}

/// A server that asks the user `guest` for a password.
fn guarded() -> (Server, Database) {
    let server = Server::start(&[]).unwrap();
    let database = server.database();
    database.execute("CREATE ROLE guest LOGIN PASSWORD 'Tr0ub4dor'").unwrap();
    let grant = "DO $$ BEGIN EXECUTE format('GRANT ALL ON DATABASE %I TO guest', current_database()); END $$";
    database.execute(grant).unwrap();
    server.admit("host all guest 127.0.0.1/32 scram-sha-256").unwrap();
    (server, database)
}

/// All of these are said, and it is an error.
fn refuses(told: &str, parts: &[&str]) {
    assert!(told.starts_with("exit 1"), "{told}");
    for part in parts {
        assert!(told.contains(part), "“{part}” is missing in: {told}");
    }
}

#[test]
fn n5_a_wrong_password_is_named_and_where_it_comes_from() {
    let (_server, database) = guarded();
    let url = database.url_of("guest", "127.0.0.1", "sslmode=disable");
    let scene = Scene::on(Convoke::new().env("PGPASSWORD", "wrong-guess"));
    write(&scene, &url, "laptop");
    for command in ["serve", "db status", "doctor"] {
        let told = scene.run(command);
        let said = "password authentication failed for user \"guest\"";
        refuses(&told, &[said, "store.password_file", "PGPASSWORD", "guest@127.0.0.1"]);
        assert!(!told.contains("wrong-guess"), "{told}");
    }
    let none = machine(&url).run("serve");
    refuses(&none, &["password", "store.password_file"]);
}

/// Runs openssl, which Debian's PostgreSQL brings along.
fn openssl(folder: &Path, words: &str) {
    let mut command = Command::new("openssl");
    let output = command.args(words.split_whitespace()).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "openssl {words}: {output:?}");
}

/// An authority of our own.
fn authority(folder: &Path, name: &str) -> PathBuf {
    openssl(
        folder,
        &format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
             -subj /CN={name} -keyout {name}.key -out {name}.crt"
        ),
    );
    folder.join(format!("{name}.crt"))
}

/// A server with a certificate for `localhost` by the authority `ours`.
fn encrypted(folder: &Path) -> (Server, Database) {
    let server = Server::start(&[]).unwrap();
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost").unwrap();
    openssl(
        folder,
        "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost \
         -keyout server.key -out server.csr",
    );
    openssl(
        folder,
        "x509 -req -in server.csr -CA ours.crt -CAkey ours.key -CAcreateserial -days 2 \
         -extfile names -out server.crt",
    );
    let given = |name: &str| server.give(name, &fs::read(folder.join(name)).unwrap()).unwrap();
    let (certificate, key) = (given("server.crt"), given("server.key"));
    let file = |name: &str, path: &Path| format!("ssl_{name}_file = '{}'", path.display());
    let files = [file("cert", &certificate), file("key", &key)];
    server.set(&[&files[0], &files[1]]).unwrap();
    server.set(&["ssl = on"]).unwrap();
    let database = server.database();
    (server, database)
}

#[test]
fn n5_a_server_without_tls_is_refused_where_encryption_is_asked_for() {
    let database = database();
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = database.url_of("convoke", "127.0.0.1", &format!("sslmode={mode}"));
        let told = machine(&url).run("serve");
        let parts = ["no trusted connection", "does not support TLS", "ssl = on", "sslmode"];
        refuses(&told, &parts);
    }
    let told = machine(&database.url_of("convoke", "127.0.0.1", "sslmode=prefer")).run("db status");
    assert!(told.starts_with("exit 0"), "{told}");
}

#[test]
fn n5_a_server_is_verified_as_far_as_sslmode_says() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, other) = (authority(folder.path(), "ours"), authority(folder.path(), "other"));
    let (_server, database) = encrypted(folder.path());
    let status = |host: &str, mode: &str, root: Option<&Path>| {
        let root = root.map(|path| format!("&sslrootcert={}", path.display())).unwrap_or_default();
        let url = database.url_of("convoke", host, &format!("sslmode={mode}{root}"));
        machine(&url).run("db status")
    };
    let works = [
        status("localhost", "verify-full", Some(&ours)),
        status("127.0.0.1", "verify-ca", Some(&ours)),
        status("127.0.0.1", "require", None),
        status("127.0.0.1", "prefer", None),
    ];
    for told in works {
        assert!(told.starts_with("exit 0"), "{told}");
    }
    let wrong_authority = [
        status("localhost", "verify-full", Some(&other)),
        status("localhost", "verify-ca", Some(&other)),
        status("localhost", "verify-full", None),
    ];
    for told in wrong_authority {
        refuses(&told, &["no trusted connection", "UnknownIssuer", "sslrootcert"]);
    }
    let other_host = status("127.0.0.1", "verify-full", Some(&ours));
    refuses(&other_host, &["no trusted connection", "not valid for name", "sslmode"]);
    let missing = status("localhost", "verify-full", Some(&folder.path().join("none.crt")));
    assert!(missing.contains("none.crt"), "{missing}");
    // A whole daemon, with everything that it does.
    let root = ours.display();
    let url =
        database.url_of("convoke", "localhost", &format!("sslmode=verify-full&sslrootcert={root}"));
    let scene = machine(&url);
    assert!(scene.run("project add web").starts_with("exit 0"), "the daemon starts");
    let told = scene.say(&scene.session(), "hello");
    assert!(told.contains("You said: **hello**"), "{told}");
    let plain = "SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
         WHERE a.application_name LIKE 'convoke%' AND NOT s.ssl";
    assert_eq!(database.value(plain).as_deref(), Some("0"), "every connection is encrypted");
}

#[test]
fn n5_an_older_schema_is_migrated_unless_other_nodes_are_running() {
    let database = database();
    let here = named(&database.url, "laptop");
    assert!(here.run("db migrate").starts_with("exit 0"));
    assert!(here.run("db rollback --yes").contains("olled back"), "the newest step is taken back");
    // An older schema is brought up to date at the start.
    assert!(here.run("project add web").starts_with("exit 0"), "the daemon starts");
    let versions = "SELECT count(*) FROM schema_migrations";
    let known = database.value(versions);
    // With another daemon on it, it is left as it is.
    let refused = named(&database.url, "workstation").run("db rollback --yes");
    refuses(&refused, &["while other daemons use it: laptop", "convoke stop", "convoke node list"]);
    assert_eq!(database.value(versions), known);
    let forget = "DELETE FROM schema_migrations
         WHERE version = (SELECT max(version) FROM schema_migrations)";
    database.execute(forget).unwrap();
    for command in ["serve", "db migrate"] {
        let refused = named(&database.url, "workstation").run(command);
        refuses(&refused, &["while other daemons use it: laptop", "convoke stop"]);
    }
    assert_ne!(database.value(versions), known, "nothing was changed");
}

#[test]
fn n5_a_newer_schema_is_refused_and_left_as_it_is() {
    let database = database();
    let scene = machine(&database.url);
    assert!(scene.run("db migrate").starts_with("exit 0"));
    database.execute("INSERT INTO schema_migrations VALUES (999, 'the_future', 'x', 0)").unwrap();
    for command in ["serve", "db status", "db migrate"] {
        let told = scene.run(command);
        refuses(&told, &["was written by a newer Convoke", "schema 999", "install that version"]);
    }
    assert_eq!(database.value("SELECT count(*) FROM nodes").as_deref(), Some("0"));
}

#[test]
fn n5_a_database_that_takes_no_writes_is_named() {
    let database = database();
    let scene = machine(&database.url);
    assert!(scene.run("db migrate").starts_with("exit 0"));
    let read_only = "DO $$ BEGIN EXECUTE format(
         'ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$";
    database.execute(read_only).unwrap();
    let told = scene.run("serve");
    refuses(&told, &["cannot be written", "standby", "primary", "store.url"]);
    // What only reads still works.
    assert!(scene.run("db status").starts_with("exit 0"));
}

#[test]
fn n5_a_full_disk_of_the_server_refuses_prompts_and_loses_nothing() {
    let server = Server::start_with_small_disk(6 << 20).unwrap();
    let database = server.database();
    let folder = server.small_disk();
    database.execute(&format!("CREATE TABLESPACE small LOCATION '{}'", folder.display())).unwrap();
    let scene = machine(&database.url);
    let there = "DO $$ BEGIN EXECUTE format(
         'ALTER DATABASE %I SET default_tablespace = small', current_database()); END $$";
    database.execute(there).unwrap();
    assert!(scene.run("project add web").starts_with("exit 0"), "the daemon starts");
    let session = scene.session();
    let kept = scene.say(&session, "before the flood");
    assert!(kept.contains("You said: **before the flood**"), "{kept}");
    database.execute("CREATE TABLE filler (bytes TEXT)").unwrap();
    database.execute("ALTER TABLE filler ALTER bytes SET STORAGE PLAIN").unwrap();
    let fill =
        "DO $$ BEGIN LOOP INSERT INTO filler VALUES (repeat('x', 8000)); COMMIT; END LOOP; END $$";
    let full = database.execute(fill).unwrap_err();
    assert!(full.contains("No space left on device"), "{full}");
    // The rest of the pages that are there already takes some more.
    let refused = (0..100_u64).find_map(|number| {
        let mut random = Random::new(number);
        let text: String = (0..1000).map(|_| format!("{:016x}", random.number())).collect();
        let told = scene.run_args(&["session", "send", &session, &text]);
        (!told.starts_with("exit 0")).then_some(told)
    });
    let refused = refused.expect("a full disk takes nothing more");
    refuses(&refused, &["no space left for postgres://", "disk of the PostgreSQL server"]);
    database.execute("DROP TABLE filler").unwrap();
    let after = scene.say(&session, "after the flood");
    assert!(after.contains("You said: **after the flood**"), "{after}");
    let found = scene.run_args(&["session", "show", &session, "--json"]);
    assert!(found.starts_with("exit 0"), "{found}");
    let first =
        "SELECT count(*) FROM messages WHERE content LIKE '%before the flood%' AND role = 'user'";
    assert_eq!(database.value(first).as_deref(), Some("1"));
}

/// The command lines and variables of all processes that were started with this home.
fn processes(scene: &Scene) -> Vec<(String, String)> {
    let folder = scene.machine.path().to_str().unwrap().to_owned();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let read = |path: PathBuf| {
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', "\n")
    };
    let all = entries
        .map(|entry| (read(entry.path().join("cmdline")), read(entry.path().join("environ"))));
    all.filter(|(words, variables)| words.contains(&folder) || variables.contains(&folder))
        .collect()
}

/// Every file below a folder that has these words in it.
fn files_with(folder: &Path, words: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(files_with(&path, words));
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            if bytes.windows(words.len()).any(|part| part == words.as_bytes()) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn n5_k1_a_password_in_the_url_is_shown_nowhere() {
    let (server, database) = guarded();
    let url = database.url_of("guest:Tr0ub4dor", "127.0.0.1", "sslmode=disable");
    let scene = machine(&url);
    assert!(scene.run("project add web").starts_with("exit 0"), "the daemon starts");
    let session = scene.session();
    let mut told = vec![scene.say(&session, "hello")];
    let commands = [
        "status",
        "status --json",
        "doctor",
        "doctor --json",
        "config show",
        "config show --json",
        "config get store.url",
        "db status",
        "db check",
        "node list --json",
        "backup",
    ];
    told.extend(commands.map(|line| scene.run(&format!("{line} -vv"))));
    // Errors, too: of a daemon that runs, and of commands that find no server.
    drop(server);
    told.extend(["session list", "db status", "doctor", "db migrate"].map(|line| scene.run(line)));
    for told in &told {
        assert!(!told.contains("Tr0ub4dor"), "{told}");
    }
    assert!(told.iter().any(|told| told.contains("guest@127.0.0.1")), "the database is named");
    let running = processes(&scene);
    assert!(!running.is_empty(), "the daemon runs");
    for (words, variables) in running {
        assert!(!words.contains("Tr0ub4dor") && !variables.contains("Tr0ub4dor"), "{words}");
    }
    let home = scene.machine.home();
    assert_eq!(files_with(&home, "Tr0ub4dor"), [home.join("config.toml")], "only where it was put");
}

#[test]
fn n5_k1_agents_do_not_inherit_the_password_of_the_database() {
    let (_server, database) = guarded();
    let url = database.url_of("guest", "127.0.0.1", "sslmode=disable");
    let machine = Convoke::new().env("PGPASSWORD", "Tr0ub4dor").env("INHERITED", "yes");
    let scene = Scene::on(machine);
    write(&scene, &url, "laptop");
    assert!(scene.run("project add web").starts_with("exit 0"), "the daemon starts");
    let session = scene.session();
    // The agent waits for the human, so that its process is there to be looked at.
    let sent = scene.run_args(&["session", "send", &session, "/write notes.txt hello"]);
    assert!(sent.starts_with("exit 0"), "{sent}");
    scene.asked(&session, "0");
    let is_agent = |words: &str| words.contains("demo-agent") || words.contains("sandbox-exec");
    let agents: Vec<_> =
        processes(&scene).into_iter().filter(|(words, _)| is_agent(words)).collect();
    assert!(agents.iter().any(|(_, variables)| variables.contains("INHERITED=yes")), "{agents:?}");
    for (words, variables) in agents {
        assert!(!variables.contains("PGPASSWORD"), "{words}: {variables}");
        assert!(!variables.contains("Tr0ub4dor"), "{words}: {variables}");
    }
}
