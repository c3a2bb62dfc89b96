package import SignetSQLite

/// The tables of the server's SQLite file.
///
/// A published migration is never edited; the next is added.
package enum SQLiteSchema {
  /// Reads the index by which each code finds its credential, some 20 MiB of a million credentials, so that the first codes after a
  /// start need not wait for its pages one by one.
  static let lookedUpByCodes =
    "SELECT count(user) FROM credentials INDEXED BY credentials_of_user WHERE user IS NOT NULL"

  package static let migrations = [
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
    // Of containers before this, the audit log alone says where their keys are.
    Migration(version: 4, sql: "ALTER TABLE containers ADD COLUMN key_origin TEXT"),
    // One table for all that makes one-time passwords, and waits for each address. What an ended container had is not
    // needed any more.
    Migration(
      version: 5,
      sql: """
        CREATE TABLE credentials (
          number INTEGER PRIMARY KEY NOT NULL, id TEXT NOT NULL UNIQUE, user TEXT REFERENCES users (id),
          serial TEXT UNIQUE, kind TEXT NOT NULL, algorithm TEXT NOT NULL, digits INTEGER NOT NULL,
          period INTEGER NOT NULL, start INTEGER NOT NULL, sealed_secret BLOB NOT NULL, silent INTEGER NOT NULL,
          created INTEGER NOT NULL, state TEXT NOT NULL, last_counter INTEGER NOT NULL, drift INTEGER NOT NULL,
          failures INTEGER NOT NULL
        ) STRICT;
        INSERT INTO credentials (id, user, kind, algorithm, digits, period, start, sealed_secret, silent, created, state,
            last_counter, drift, failures)
          SELECT id, user, 'totp', json_extract(profile, '$.otp.algorithm'), json_extract(profile, '$.otp.digits'),
            json_extract(profile, '$.otp.period'), 0, sealed_otp_secret,
            coalesce(json_extract(profile, '$.keys.otp.lock.type'),
              iif(json_extract(profile, '$.keys.otp') IS NULL, json_extract(profile, '$.protection.lock.type'), NULL), '')
              = 'silent',
            created, state, last_counter, 0, failed_codes
          FROM (
            SELECT containers.id, user, CAST(profile AS TEXT) AS profile, sealed_otp_secret, containers.created, state,
              coalesce(last_counter, -1) AS last_counter, failed_codes
            FROM containers JOIN users ON users.id = containers.user
            WHERE state IN ('active', 'pending') AND json_valid(CAST(profile AS TEXT))
          )
          WHERE json_extract(profile, '$.otp.type') = 'totp';
        CREATE INDEX credentials_of_user ON credentials (user) WHERE user IS NOT NULL;
        ALTER TABLE containers DROP COLUMN sealed_otp_secret;
        ALTER TABLE containers DROP COLUMN last_counter;
        ALTER TABLE users DROP COLUMN failed_codes;
        CREATE TABLE waits (
          user TEXT NOT NULL, client BLOB NOT NULL, failures INTEGER NOT NULL, until INTEGER NOT NULL,
          expires INTEGER NOT NULL, PRIMARY KEY (user, client)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX waits_by_expiry ON waits (expires);
        """),
    // Transactions with a content, all ends and no need of a user; the server's own keys; how often a user is asked. Texts become
    // contents so that they can be read; those that waited could not all be signed in that form.
    Migration(
      version: 6,
      sql: """
        CREATE TABLE new_transactions (
          number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user TEXT REFERENCES users (id),
          content TEXT NOT NULL, statuses TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL,
          sealed_number BLOB, wrong_numbers INTEGER NOT NULL DEFAULT 0, initiated INTEGER NOT NULL DEFAULT 0,
          state TEXT NOT NULL, decision TEXT, container TEXT, decided INTEGER, end_reason TEXT, end_message TEXT
        ) STRICT;
        INSERT INTO new_transactions (id, user, content, statuses, created, expires, state, decision, container, decided)
          SELECT id, user, json_object('from', 'Signet', 'text', text), 'accepted denied', created, expires,
            CASE state WHEN 'pending' THEN 'expired' ELSE state END, decision, container, decided
          FROM transactions ORDER BY rowid;
        DROP TABLE transactions;
        ALTER TABLE new_transactions RENAME TO transactions;
        CREATE INDEX pending_transactions ON transactions (user, created) WHERE state = 'pending';
        CREATE INDEX pending_by_expiry ON transactions (expires) WHERE state = 'pending';
        ALTER TABLE users ADD COLUMN challenges INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE users ADD COLUMN challenge_after INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE api_keys ADD COLUMN display_name TEXT;
        CREATE TABLE signing_keys (
          id TEXT PRIMARY KEY NOT NULL, sealed BLOB NOT NULL, public_key BLOB NOT NULL, created INTEGER NOT NULL,
          retired INTEGER, succession TEXT
        ) STRICT;
        CREATE UNIQUE INDEX one_signing_key ON signing_keys (retired IS NULL) WHERE retired IS NULL;
        """),
    // Where pushes go, and what tells waiting devices of every process that something of their user changed.
    Migration(
      version: 7,
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
    Migration(
      version: 8,
      sql: "CREATE INDEX initiated_transactions ON transactions (user, number) WHERE initiated = 1"),
    // Clients of OpenID Connect, what they ask, and what users type so that they may ask.
    Migration(
      version: 9,
      sql: """
        CREATE TABLE clients (
          id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, authentication TEXT NOT NULL, key_set BLOB,
          secret_digest BLOB, delivery TEXT NOT NULL, endpoint TEXT, request_algorithm TEXT,
          number_digits INTEGER, created INTEGER NOT NULL, revoked INTEGER
        ) STRICT;
        CREATE TABLE backchannel_requests (
          digest BLOB PRIMARY KEY NOT NULL, txn TEXT NOT NULL UNIQUE REFERENCES transactions (id),
          client TEXT NOT NULL REFERENCES clients (id), delivery TEXT NOT NULL, expires INTEGER NOT NULL,
          sealed_notice BLOB, poll_interval INTEGER NOT NULL, last_poll INTEGER, issued INTEGER,
          notice_due INTEGER, notice_attempts INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX due_notices ON backchannel_requests (notice_due) WHERE notice_due IS NOT NULL;
        CREATE INDEX backchannel_requests_by_expiry ON backchannel_requests (expires);
        ALTER TABLE users ADD COLUMN user_code BLOB;
        """),
    // Transactions that may be approved by typing, and which fields are typed; whether they were.
    Migration(
      version: 10,
      sql: """
        ALTER TABLE transactions ADD COLUMN typed_fields TEXT;
        ALTER TABLE transactions ADD COLUMN typed INTEGER NOT NULL DEFAULT 0;
        """),
    // What each code changes apart from what stays; taken back by 13, since a million credentials were slower with it (decision 88).
    Migration(
      version: 11,
      sql: """
        CREATE TABLE code_places (
          number INTEGER PRIMARY KEY NOT NULL, last_counter INTEGER NOT NULL, drift INTEGER NOT NULL,
          failures INTEGER NOT NULL
        ) STRICT;
        INSERT INTO code_places SELECT number, last_counter, drift, failures FROM credentials;
        CREATE TABLE code_generators (
          number INTEGER PRIMARY KEY NOT NULL, id TEXT NOT NULL UNIQUE, user TEXT REFERENCES users (id),
          serial TEXT UNIQUE, kind TEXT NOT NULL, algorithm TEXT NOT NULL, digits INTEGER NOT NULL,
          period INTEGER NOT NULL, start INTEGER NOT NULL, sealed_secret BLOB NOT NULL, silent INTEGER NOT NULL,
          created INTEGER NOT NULL, state TEXT NOT NULL
        ) STRICT;
        INSERT INTO code_generators
          SELECT number, id, user, serial, kind, algorithm, digits, period, start, sealed_secret, silent, created, state
          FROM credentials;
        DROP TABLE credentials;
        CREATE INDEX generators_of_user ON code_generators (user) WHERE user IS NOT NULL;
        """),
    // UAF: keys, operations, the devices that tokens are sent to, and transactions that a UAF response has decided.
    Migration(
      version: 12,
      sql: """
        CREATE TABLE uaf_credentials (
          number INTEGER PRIMARY KEY NOT NULL, aaid TEXT NOT NULL, key_id BLOB NOT NULL,
          user TEXT NOT NULL REFERENCES users (id), public_key BLOB NOT NULL, algorithm INTEGER NOT NULL,
          key_format INTEGER NOT NULL, sign_counter INTEGER NOT NULL, registration_counter INTEGER NOT NULL,
          authenticator_version INTEGER NOT NULL, created INTEGER NOT NULL, state TEXT NOT NULL, device TEXT,
          UNIQUE (aaid, key_id)
        ) STRICT;
        CREATE INDEX uaf_credentials_of_user ON uaf_credentials (user, number);
        CREATE TABLE uaf_sessions (
          id TEXT PRIMARY KEY NOT NULL, operation TEXT NOT NULL, user TEXT REFERENCES users (id), context TEXT,
          txn TEXT REFERENCES transactions (id), request BLOB, token_digest BLOB, token_expires INTEGER,
          created INTEGER NOT NULL, expires INTEGER NOT NULL, dispatcher TEXT, target TEXT, sealed_payload BLOB,
          state TEXT NOT NULL, status INTEGER, asm_status INTEGER, client_error INTEGER, authenticators TEXT,
          ended INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX uaf_sessions_by_token ON uaf_sessions (token_digest) WHERE token_digest IS NOT NULL;
        CREATE INDEX uaf_sessions_by_creation ON uaf_sessions (created);
        CREATE INDEX unanswered_uaf_sessions ON uaf_sessions (expires)
          WHERE state = 'requested' AND token_digest IS NULL;
        CREATE INDEX uaf_sessions_of_target ON uaf_sessions (target, created) WHERE state = 'tokenCreated';
        CREATE TABLE uaf_targets (
          id TEXT PRIMARY KEY NOT NULL, user TEXT NOT NULL REFERENCES users (id), device TEXT, name TEXT NOT NULL,
          dispatcher TEXT, sealed_target BLOB, signature_key BLOB NOT NULL, encryption_key BLOB,
          created INTEGER NOT NULL, UNIQUE (user, name)
        ) STRICT;
        CREATE INDEX uaf_targets_of_device ON uaf_targets (device) WHERE device IS NOT NULL;
        ALTER TABLE transactions ADD COLUMN uaf_session TEXT;
        """),
    // One table again for all that makes one-time passwords.
    Migration(
      version: 13,
      sql: """
        CREATE TABLE credentials (
          number INTEGER PRIMARY KEY NOT NULL, id TEXT NOT NULL UNIQUE, user TEXT REFERENCES users (id),
          serial TEXT UNIQUE, kind TEXT NOT NULL, algorithm TEXT NOT NULL, digits INTEGER NOT NULL,
          period INTEGER NOT NULL, start INTEGER NOT NULL, sealed_secret BLOB NOT NULL, silent INTEGER NOT NULL,
          created INTEGER NOT NULL, state TEXT NOT NULL, last_counter INTEGER NOT NULL, drift INTEGER NOT NULL,
          failures INTEGER NOT NULL
        ) STRICT;
        INSERT INTO credentials
          SELECT number, id, user, serial, kind, algorithm, digits, period, start, sealed_secret, silent, created, state,
            last_counter, drift, failures
          FROM code_generators JOIN code_places USING (number);
        DROP TABLE code_generators;
        DROP TABLE code_places;
        CREATE INDEX credentials_of_user ON credentials (user) WHERE user IS NOT NULL;
        """),
    // Codes of the server's own over what UAF decides by, and which stranger asked. What was under way has no code and is
    // given up; keys without one are shown to operators, and are of no use.
    Migration(
      version: 14,
      sql: """
        DELETE FROM uaf_sessions;
        DELETE FROM uaf_targets;
        ALTER TABLE uaf_credentials ADD COLUMN code BLOB;
        ALTER TABLE uaf_sessions ADD COLUMN code BLOB;
        ALTER TABLE uaf_sessions ADD COLUMN client BLOB;
        CREATE INDEX uaf_sessions_of_client ON uaf_sessions (client, created)
          WHERE client IS NOT NULL AND state <> 'succeeded';
        ALTER TABLE uaf_targets ADD COLUMN code BLOB;
        ALTER TABLE transactions ADD COLUMN uaf_code BLOB;
        """),
    // How the server stands to containers: account policies, reports of devices, orders and their receipts.
    Migration(
      version: 15,
      sql: """
        ALTER TABLE containers ADD COLUMN standing TEXT NOT NULL DEFAULT 'open';
        ALTER TABLE containers ADD COLUMN report_wanted INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE account_states (
          container TEXT PRIMARY KEY NOT NULL REFERENCES containers (id), revision INTEGER NOT NULL, policies BLOB,
          ordered_lock INTEGER NOT NULL, ordered_reason TEXT NOT NULL, verdict TEXT NOT NULL,
          verdict_reason TEXT NOT NULL, challenge BLOB, challenge_expires INTEGER NOT NULL, report TEXT,
          reported INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE account_orders (
          number INTEGER PRIMARY KEY NOT NULL, id TEXT UNIQUE NOT NULL,
          container TEXT NOT NULL REFERENCES containers (id), action TEXT NOT NULL, reason TEXT NOT NULL,
          created INTEGER NOT NULL, receipt TEXT, received INTEGER
        ) STRICT;
        CREATE INDEX account_orders_of_container ON account_orders (container, number);
        """),
    // Push mechanisms of authenticator apps, and the messages to them.
    Migration(
      version: 16,
      sql: """
        CREATE TABLE pushauth_mechanisms (
          id TEXT PRIMARY KEY NOT NULL, user TEXT NOT NULL REFERENCES users (id), mechanism TEXT UNIQUE,
          sealed_secret BLOB NOT NULL, challenge BLOB NOT NULL, sealed_device BLOB, created INTEGER NOT NULL,
          expires INTEGER NOT NULL, state TEXT NOT NULL
        ) STRICT;
        CREATE INDEX pushauth_mechanisms_of_user ON pushauth_mechanisms (user, created);
        CREATE INDEX open_pushauth_mechanisms ON pushauth_mechanisms (expires) WHERE state = 'open';
        CREATE TABLE pushauth_messages (
          id TEXT PRIMARY KEY NOT NULL, mechanism TEXT NOT NULL REFERENCES pushauth_mechanisms (id),
          kind TEXT NOT NULL, challenge BLOB NOT NULL, sealed_number BLOB, created INTEGER NOT NULL,
          expires INTEGER NOT NULL, state TEXT NOT NULL, wrong_numbers INTEGER NOT NULL DEFAULT 0, answered INTEGER
        ) STRICT;
        CREATE INDEX pushauth_messages_of_mechanism ON pushauth_messages (mechanism);
        CREATE INDEX pushauth_messages_by_expiry ON pushauth_messages (expires);
        """),
    // One-time codes that are in the URI of a push mechanism.
    Migration(version: 17, sql: "ALTER TABLE pushauth_mechanisms ADD COLUMN credential TEXT;"),
    // Which changes of the device of a push mechanism were taken.
    Migration(
      version: 18,
      sql: "ALTER TABLE pushauth_mechanisms ADD COLUMN seen_changes BLOB NOT NULL DEFAULT x'';"),
    // One public key belongs to one container. What is pending has not shown that its keys are its own: it is given up, and its
    // device begins again.
    Migration(
      version: 19,
      sql: """
        DELETE FROM credentials WHERE id IN (SELECT id FROM containers WHERE state = 'pending');
        UPDATE containers SET state = 'revoked' WHERE state = 'pending';
        CREATE TABLE container_keys (
          public_key BLOB PRIMARY KEY NOT NULL,
          container TEXT NOT NULL REFERENCES containers (id) ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX keys_of_container ON container_keys (container);
        INSERT OR IGNORE INTO container_keys
          SELECT key, id FROM (
            SELECT session_key AS key, id, created, rowid AS number FROM containers
            UNION ALL SELECT encryption_key, id, created, rowid FROM containers
            UNION ALL SELECT signing_key, id, created, rowid FROM containers
          ) ORDER BY created, number;
        """),
  ]
}
