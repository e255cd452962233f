//! Teams of several daemons that ask each other at the same time: none waits for itself, and limits hold for all of them.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use convoke_testkit::postgres;
use convoke_testkit::wait::until;
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::nodes_shared::away;
use crate::nodes_teams::{count, machine, machine_with};
use crate::team_scene::Teams;

const WAITS: &str = "SELECT count(*) FROM team_waits";

/// Asks a team in the name of another one.
fn ask_as(machine: &Teams, from: &str, to: &str, question: &str) -> Value {
    let body = json!({"question": question, "fromTeam": from});
    machine.daemon.post(&format!("/api/teams/{to}/ask"), &body).json()
}

/// A pipe in the folder of a team, at which its agent waits.
struct Gate(PathBuf);

impl Gate {
    fn of(machine: &Teams, team: &str) -> Self {
        let path = machine.machine().path().join("root").join(team).join("gate");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        Self(path)
    }

    /// Waits until the agent is there. It goes on when the file is dropped.
    fn reached(&self) -> File {
        OpenOptions::new().write(true).open(&self.0).unwrap()
    }
}

/// What an agent says in a turn.
fn said(machine: &Teams, session: &str, prompt: &str) -> String {
    let messages = machine.daemon.turn(session, prompt);
    let asked = messages.iter().rposition(|message| message["content"]["text"] == prompt).unwrap();
    let answers = messages[asked + 1..].iter().take_while(|message| message["role"] != "user");
    answers.filter_map(|message| message["content"]["text"].as_str()).collect()
}

#[test]
fn n4_t10_of_two_teams_on_two_nodes_that_would_wait_for_each_other_one_is_refused() {
    let database = postgres::database();
    let (here, there) =
        (machine(&database, "laptop", &["api"]), machine(&database, "workstation", &["web"]));
    // The lasting conversations of both pairs, each on the node of the team that is asked.
    let session = |from, to| ask_as(&here, from, to, "hello")["sessionId"].clone();
    let (forth, back) = (session("api", "web"), session("web", "api"));
    let gates = [Gate::of(&there, "web"), Gate::of(&here, "api")];
    for _ in 0..3 {
        // A human prompts both, so that neither chain has the other team in it.
        let told = thread::scope(|scope| {
            let turns = [
                scope.spawn(|| {
                    said(&here, forth.as_str().unwrap(), "after gate: ask api: from web")
                }),
                scope.spawn(|| {
                    said(&there, back.as_str().unwrap(), "after gate: ask web: from api")
                }),
            ];
            drop(gates.each_ref().map(Gate::reached));
            turns.map(|turn| turn.join().unwrap())
        });
        let refused = [
            "api fails <this ask would make a circle: api->web → web->api → api->web",
            "web fails <this ask would make a circle: web->api → api->web → web->api",
        ];
        let answered = ["api says <from web>", "web says <from api>"];
        let is_first_refused = told[0].starts_with(refused[0]) && told[1] == answered[1];
        let is_second_refused = told[1].starts_with(refused[1]) && told[0] == answered[0];
        assert!(is_first_refused || is_second_refused, "{told:#?}");
    }
    assert_eq!(count(&database, WAITS), 0, "nothing waits any more");
}

/// Three teams on three nodes, each of which is asked to ask the next one.
struct Three {
    machines: [Teams; 3],
    gates: [Gate; 3],
}

/// Who asks whom, and whom that one is to ask.
const ASKS: [(&str, &str, &str); 3] = [("c", "a", "b"), ("a", "b", "c"), ("b", "c", "a")];

impl Three {
    fn on(database: &postgres::Database) -> Self {
        let machines = [("laptop", "a"), ("workstation", "b"), ("server", "c")];
        let machines = machines.map(|(name, team)| machine(database, name, &[team]));
        let gates = [0, 1, 2].map(|place| Gate::of(&machines[place], ASKS[place].1));
        Self { machines, gates }
    }

    /// Has the team of a machine asked, by another one, to ask the next one.
    fn ask(&self, place: usize) -> String {
        let (from, team, next) = ASKS[place];
        let question = format!("after gate: ask {next}: hello");
        ask_as(&self.machines[place], from, team, &question)["response"].to_string()
    }
}

fn is_refused(told: &str) -> bool {
    told.contains("would make a circle")
}

#[test]
fn n4_t10_of_three_chains_in_a_circle_over_three_nodes_one_is_refused_and_two_are_answered() {
    let database = postgres::database();
    let three = Three::on(&database);
    for _ in 0..2 {
        let told = thread::scope(|scope| {
            let three = &three;
            let turns = [0, 1, 2].map(|place| scope.spawn(move || three.ask(place)));
            drop(three.gates.each_ref().map(Gate::reached));
            turns.map(|turn| turn.join().unwrap())
        });
        let refused: Vec<usize> = (0..3).filter(|place| is_refused(&told[*place])).collect();
        assert_eq!(refused.len(), 1, "{told:#?}");
        for (place, told) in told.iter().enumerate() {
            let (from, team, next) = ASKS[place];
            let last = ASKS.iter().find(|ask| ask.1 == next).unwrap().2;
            let circle =
                format!("{from}->{team} → {team}->{next} → {next}->{last} → {from}->{team}");
            let expected = if refused.contains(&place) {
                format!("{next} fails <this ask would make a circle: {circle}")
            } else {
                format!("{next} says <hello>")
            };
            assert!(told.contains(&expected), "{told} has no {expected}");
        }
    }
    assert_eq!(count(&database, WAITS), 0, "nothing waits any more");
}

#[test]
fn n4_t10_an_agent_of_a_node_that_is_away_for_a_while_still_waits() {
    let database = postgres::database();
    let three = Three::on(&database);
    thread::scope(|scope| {
        let three = &three;
        let [last, first, second] = [0, 1, 2].map(|place| scope.spawn(move || three.ask(place)));
        let [hold_last, hold_first, hold_second] = three.gates.each_ref().map(Gate::reached);
        drop(hold_first);
        until("b waits for c", || count(&database, WAITS) == 1);
        drop(hold_second);
        until("c waits for a", || count(&database, WAITS) == 2);
        // The machine of c sleeps for longer than its lease.
        let asleep = three.machines[2].daemon.pid();
        kill_process(asleep, Signal::STOP).unwrap();
        away(&database, "server");
        drop(hold_last);
        let told = last.join().unwrap();
        kill_process(asleep, Signal::CONT).unwrap();
        assert!(is_refused(&told), "{told}");
        for told in [first, second].map(|turn| turn.join().unwrap()) {
            assert!(told.contains("says <hello>"), "{told}");
        }
    });
}

#[test]
fn n4_t10_a_wait_whose_end_could_not_be_recorded_ends_all_the_same() {
    let database = postgres::database();
    let (here, _there) =
        (machine(&database, "laptop", &["api"]), machine(&database, "workstation", &["web"]));
    let function = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'not now'; END $$";
    database.execute(function).unwrap();
    let trigger = "CREATE TRIGGER refuse BEFORE DELETE ON team_waits
         FOR EACH ROW EXECUTE FUNCTION refuse()";
    database.execute(trigger).unwrap();
    assert_eq!(here.ask("api", "ask web: hello")["response"], "web says <hello>");
    assert_eq!(count(&database, WAITS), 1);
    database.execute("DROP FUNCTION refuse CASCADE").unwrap();
    until("the wait has ended", || count(&database, WAITS) == 0);
}

#[test]
fn n4_k7_all_asks_that_follow_from_one_are_counted_together_on_all_nodes() {
    let database = postgres::database();
    let limit = "[teams]\nmax_chain_messages = 4\n";
    let here = machine_with(&database, "laptop", &["api", "docs"], limit);
    let _there = machine_with(&database, "workstation", &["web"], limit);
    let session = ask_as(&here, "docs", "api", "hello")["sessionId"].clone();
    // Six asks because of one prompt: two on the laptop, and two on the workstation because of each of them.
    let words = "times 2: ask web: times 2: ask docs: hello";
    let told = said(&here, session.as_str().unwrap(), words);
    let refused = "docs fails <one ask has caused more than 4 asks: api → web → docs";
    assert_eq!(told.matches("docs says <hello>").count(), 2, "{told}");
    assert_eq!(told.matches(refused).count(), 2, "{told}");
    // The next prompt begins a new chain.
    let told = said(&here, session.as_str().unwrap(), "ask web: ask docs: hello");
    assert_eq!(told, "web says <docs says <hello>>");
}

#[test]
fn n4_k7_the_asks_of_a_pair_within_an_hour_are_counted_together_on_all_nodes() {
    let database = postgres::database();
    let limit = "[teams]\nmax_pair_messages_per_hour = 3\n";
    let machines = [("laptop", "api"), ("workstation", "web"), ("server", "docs")];
    let machines = machines.map(|(name, team)| machine_with(&database, name, &[team], limit));
    for machine in &machines {
        assert_eq!(machine.ask("web", "hello")["response"], "hello");
    }
    for machine in &machines {
        let refused = machine.ask("web", "once more")["detail"].clone();
        assert_eq!(refused, "external->web has asked 3 times within an hour, which is the limit");
    }
    assert_eq!(ask_as(&machines[0], "api", "web", "hello")["response"], "hello");
}
