import SignetSQLite

/// The tables of the server's SQLite file.
///
/// A published migration is never edited; the next is added.
enum SQLiteSchema {
  static let migrations = [
    Migration(
      version: 1,
      sql: """
        CREATE TABLE users (
          id TEXT PRIMARY KEY NOT NULL, created INTEGER NOT NULL, failed_codes INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE api_keys (
          id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL, secret_digest BLOB NOT NULL,
          created INTEGER NOT NULL, revoked INTEGER
        ) STRICT;
        CREATE TABLE activations (
          id TEXT PRIMARY KEY NOT NULL, user TEXT NOT NULL REFERENCES users (id),
          sealed_invite_key BLOB NOT NULL, salt BLOB NOT NULL, memory INTEGER NOT NULL, passes INTEGER NOT NULL,
          lanes INTEGER NOT NULL, profile BLOB NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL,
          failed_attempts INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX one_open_activation ON activations (user) WHERE state = 'open';
        CREATE TABLE containers (
          id TEXT PRIMARY KEY NOT NULL, user TEXT NOT NULL REFERENCES users (id),
          activation TEXT NOT NULL REFERENCES activations (id), device BLOB NOT NULL, name TEXT NOT NULL,
          platform TEXT NOT NULL, keystore TEXT NOT NULL, session_key BLOB NOT NULL, encryption_key BLOB NOT NULL,
          signing_key BLOB NOT NULL, sealed_otp_secret BLOB NOT NULL, profile BLOB NOT NULL,
          created INTEGER NOT NULL, state TEXT NOT NULL, last_counter INTEGER
        ) STRICT;
        CREATE INDEX containers_of_user ON containers (user, created);
        CREATE INDEX containers_of_activation ON containers (activation);
        CREATE TABLE requests (
          id BLOB NOT NULL, container TEXT NOT NULL, expires INTEGER NOT NULL, PRIMARY KEY (container, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX requests_by_expiry ON requests (expires);
        CREATE TABLE transactions (
          id TEXT PRIMARY KEY NOT NULL, user TEXT NOT NULL REFERENCES users (id), text TEXT NOT NULL,
          created INTEGER NOT NULL, expires INTEGER NOT NULL, state TEXT NOT NULL,
          decision TEXT, container TEXT, decided INTEGER
        ) STRICT;
        CREATE INDEX pending_transactions ON transactions (user, created) WHERE state = 'pending';
        CREATE INDEX pending_by_expiry ON transactions (expires) WHERE state = 'pending';
        CREATE TABLE audit (number INTEGER PRIMARY KEY NOT NULL, event TEXT NOT NULL, hash BLOB NOT NULL) STRICT;
        """),
    Migration(
      version: 2,
      sql: "ALTER TABLE containers ADD COLUMN failed_signatures INTEGER NOT NULL DEFAULT 0"),
    // Renewals, what the device says of its hardware, and how it ended a container.
    Migration(
      version: 3,
      sql: """
        ALTER TABLE containers ADD COLUMN simulated INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE containers ADD COLUMN renews TEXT;
        ALTER TABLE containers ADD COLUMN renewals INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE containers ADD COLUMN succession TEXT;
        ALTER TABLE containers ADD COLUMN renewal_wanted INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE containers ADD COLUMN ended TEXT;
        CREATE INDEX successors ON containers (renews) WHERE state = 'pending';
        """),
    // Where pushes go, and what tells waiting devices of every process that something of their user changed.
    Migration(
      version: 4,
      sql: """
        CREATE TABLE push_targets (
          id TEXT PRIMARY KEY NOT NULL, container TEXT NOT NULL REFERENCES containers (id), name TEXT NOT NULL,
          service TEXT NOT NULL, sealed_target BLOB NOT NULL, created INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX push_targets_of_container ON push_targets (container);
        CREATE TABLE transaction_changes (
          number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, user TEXT NOT NULL, time INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX transaction_changes_by_time ON transaction_changes (time);
        """),
  ]
}
