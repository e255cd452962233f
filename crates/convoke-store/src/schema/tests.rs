//! The runner with test migrations, and every real one up and down.

use super::*;

const TWO: &[Step] = &[
    Step {
        version: 1,
        name: "one",
        up: "CREATE TABLE one (a)",
        down: "DROP TABLE one",
        code: None,
    },
    Step {
        version: 2,
        name: "two",
        up: "CREATE TABLE two (a)",
        down: "DROP TABLE two",
        code: None,
    },
];

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Everything in the schema, with the text that made it.
fn objects(db: &Connection) -> Vec<(String, Option<String>)> {
    let mut statement = db
        .prepare(
            "SELECT name, sql FROM sqlite_schema
             WHERE name NOT IN ('schema_migrations', 'sqlite_sequence') ORDER BY name",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(|row| row.unwrap()).collect()
}

fn names(migrations: &[Migration]) -> Vec<&str> {
    migrations.iter().map(|migration| migration.name).collect()
}

#[test]
fn migrations_go_up_one_by_one_and_down_as_far_as_asked() {
    let db = Connection::open_in_memory().unwrap();
    let one = TWO.get(..1).unwrap();
    assert_eq!(names(&migrate_up(Db::Sqlite(&db), one, at(1)).unwrap()), ["one"]);
    assert_eq!(names(&migrate_up(Db::Sqlite(&db), TWO, at(2)).unwrap()), ["two"]);
    assert_eq!(names(&migrate_up(Db::Sqlite(&db), TWO, at(3)).unwrap()), [""; 0]);
    assert_eq!(names(&migrate_down(Db::Sqlite(&db), TWO, 1).unwrap()), ["two"]);
    assert_eq!(names(&migrate_up(Db::Sqlite(&db), TWO, at(4)).unwrap()), ["two"]);
    let down = migrate_down(Db::Sqlite(&db), TWO, usize::MAX).unwrap();
    let moments: Vec<_> = down.iter().map(|migration| migration.applied_at).collect();
    assert_eq!((names(&down), moments), (vec!["two", "one"], vec![Some(at(4)), Some(at(1))]));
    assert_eq!(objects(&db), []);
}

#[test]
fn a_migration_that_fails_leaves_nothing_of_itself() {
    let broken = Step { up: "CREATE TABLE two (a); CREATE TABLE two (a)", ..TWO[1] };
    let db = Connection::open_in_memory().unwrap();
    migrate_up(Db::Sqlite(&db), &[TWO[0], broken], at(1)).unwrap_err();
    assert_eq!(objects(&db).len(), 1);
    assert_eq!(names(&migrate_up(Db::Sqlite(&db), TWO, at(1)).unwrap()), ["two"]);
}

#[test]
fn s11_every_migration_goes_up_down_and_up_again_to_the_same_schema() {
    let db = Connection::open_in_memory().unwrap();
    for known in 1..=STEPS.len() {
        let steps = STEPS.get(..known).unwrap();
        let before = objects(&db);
        migrate_up(Db::Sqlite(&db), steps, at(1)).unwrap();
        let after = objects(&db);
        assert_ne!(before, after);
        assert_eq!(migrate_down(Db::Sqlite(&db), steps, 1).unwrap().len(), 1);
        assert_eq!(objects(&db), before);
        migrate_up(Db::Sqlite(&db), steps, at(1)).unwrap();
        assert_eq!(objects(&db), after);
    }
}

#[test]
fn migrations_are_numbered_from_one_without_gaps() {
    let numbers: Vec<u32> = STEPS.iter().map(|step| step.version).collect();
    assert_eq!(numbers, (1..).take(STEPS.len()).collect::<Vec<_>>());
}
