import SignetSQLite

/// The tables of a vault's file.
///
/// Every row with content has a `mac`, see ``RowSeal``, or a digest in the state; ``VaultState`` binds them together.
/// Records are sealed under the master key of their domain.
enum VaultSchema {
  static let migrations = [
    Migration(
      version: 1,
      sql: """
        CREATE TABLE vault (
          one INTEGER PRIMARY KEY CHECK (one = 1),
          vault BLOB NOT NULL, device BLOB NOT NULL, keystore TEXT NOT NULL, sealed_key BLOB NOT NULL, mac BLOB NOT NULL
        ) STRICT;
        CREATE TABLE container (
          number INTEGER PRIMARY KEY,
          id BLOB NOT NULL UNIQUE, state INTEGER NOT NULL, created INTEGER NOT NULL,
          user_id TEXT NOT NULL, server TEXT NOT NULL, name TEXT NOT NULL, server_id TEXT NOT NULL,
          authorities TEXT, pins BLOB NOT NULL, protocol_facts BLOB NOT NULL, extra BLOB NOT NULL, mac BLOB NOT NULL
        ) STRICT;
        CREATE TABLE slot (
          container BLOB NOT NULL REFERENCES container (id) ON DELETE CASCADE,
          domain TEXT NOT NULL, kind INTEGER NOT NULL,
          header BLOB NOT NULL, sealed_secret BLOB NOT NULL, wrapped_key BLOB NOT NULL,
          failed INTEGER NOT NULL, mac BLOB NOT NULL,
          PRIMARY KEY (container, domain, kind)
        ) STRICT;
        CREATE TABLE record (
          container BLOB NOT NULL REFERENCES container (id) ON DELETE CASCADE,
          domain TEXT NOT NULL, name TEXT NOT NULL, sealed BLOB NOT NULL,
          PRIMARY KEY (container, domain, name)
        ) STRICT;
        """),
    // Version 2 adds waits, password ages, the hardware counter, wipe receipts, and hardware locations to release.
    Migration(
      version: 2,
      sql: """
        ALTER TABLE vault ADD COLUMN counter BLOB;
        ALTER TABLE slot ADD COLUMN last_boot BLOB;
        ALTER TABLE slot ADD COLUMN last_since_boot INTEGER;
        ALTER TABLE slot ADD COLUMN set_at INTEGER;
        ALTER TABLE slot ADD COLUMN is_initial INTEGER;
        ALTER TABLE slot ADD COLUMN seen_at INTEGER;
        CREATE TABLE generation (
          one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, mac BLOB NOT NULL
        ) STRICT;
        CREATE TABLE receipt (
          container BLOB NOT NULL REFERENCES container (id) ON DELETE CASCADE,
          domain TEXT NOT NULL, wiped_at INTEGER NOT NULL, failed INTEGER NOT NULL, mac BLOB NOT NULL,
          PRIMARY KEY (container, domain)
        ) STRICT;
        CREATE TABLE retired (blob BLOB NOT NULL) STRICT;
        """),
    // Version 3 adds the state over all rows, notices that wait to be sent, and hardware locations that no slot uses.
    Migration(
      version: 3,
      sql: """
        CREATE TABLE part (
          owner BLOB NOT NULL, name TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (owner, name)
        ) STRICT;
        CREATE TABLE notice (
          number INTEGER PRIMARY KEY, server TEXT NOT NULL, due INTEGER NOT NULL, bytes BLOB NOT NULL
        ) STRICT;
        CREATE TABLE place (blob BLOB PRIMARY KEY) STRICT;
        INSERT INTO place (blob) SELECT DISTINCT blob FROM retired;
        DROP TABLE retired;
        """),
  ]
}
