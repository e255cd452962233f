//! A database on a real server.

use convoke_store::Store;
use convoke_store::location::{Passwords, Server};
use convoke_testkit::postgres;

use crate::world::at;

pub(crate) struct Database {
    database: postgres::Database,
}

impl Database {
    pub(crate) fn new() -> Self {
        Self { database: postgres::database() }
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open(self.server(), at(0)).await.unwrap()
    }

    pub(crate) fn server(&self) -> Server {
        Server::parse(&self.database.url, &Passwords::default()).unwrap()
    }

    /// Runs a statement of another program, to spoil what is stored; returns how many rows it changed.
    pub(crate) fn execute(&self, sql: &str) -> Result<u64, String> {
        self.database.execute(sql)
    }

    /// Runs statements in a connection that stays open until what is returned is dropped.
    pub(crate) fn keep_open(&self, sql: &str) -> postgres::OpenConnection {
        self.database.keep_open(sql).unwrap()
    }

    /// The number that a statement of another program finds.
    pub(crate) fn number(&self, sql: &str) -> u64 {
        self.database.value(sql).unwrap().parse().unwrap()
    }

    /// How many entries the search index has for a word.
    pub(crate) fn hits(&self, word: &str) -> u64 {
        self.number(&format!("SELECT count(*) FROM message_search WHERE vector @@ '{word}'"))
    }

    /// Takes the newest migrations back, down to the index by row; the store must be closed.
    pub(crate) fn roll_back_search(&self) {
        // The client blocks, which a thread of the runtime must not.
        let server = self.server();
        let taken_back = std::thread::spawn(move || convoke_store::schema::rollback(server, 6));
        assert_eq!(taken_back.join().unwrap().unwrap().len(), 6);
    }

    /// Looks for damage, which is the server's business.
    pub(crate) fn check(&self) {
        assert_eq!(self.number("SELECT count(*) FROM generation"), 1);
    }
}
