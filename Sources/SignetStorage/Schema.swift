import SignetSQL

/// The tables of the server's database; those of a kind of authenticators are in its ``AuthenticatorTable``.
///
/// A published migration is never edited; the next is added. None is published yet.
enum Schema {
  static let current = SQLSchema(baseline: baseline)

  /// The names of the tables.
  static let tables = baseline.map(\.name)

  private static let baseline =
    users + devices + transactions + clients + outbox + AuthenticatorRecord.Kind.tables.flatMap(\.tables)
    + maintenance

  private static let users = [
    SQLTable(
      "users",
      [
        .text("id").primaryKey, .text("subject").unique, .integer("created"),
        .integer("challenges").defaulting(to: 0),
        .integer("challenge_after").defaulting(to: 0), .blob("user_code").optional, .text("state"),
        .text("state_reason"), .integer("state_since"), .text("display_name").optional,
        .blob("code").optional,
      ], indexes: [SQLIndex("deleted_users", "id", where: "state = 'deleted'")], isClustered: true),
    // The share of one requester of a user's budget of requests, with its own `challenges` and `challenge_after`.
    SQLTable(
      "request_shares",
      [
        .text("user_id").references("users", "id"), .text("requester"), .integer("challenges"),
        .integer("challenge_after"),
      ],
      constraints: ["PRIMARY KEY (user_id, requester)"], isClustered: true),
    // The waiting times of addresses after wrong codes.
    SQLTable(
      "waits",
      [
        .text("user_id"), .blob("client"), .integer("failures"), .integer("until"), .integer("expires"),
      ],
      constraints: ["PRIMARY KEY (user_id, client)"], indexes: [SQLIndex("waits_by_expiry", "expires")],
      isClustered: true),
    SQLTable(
      "api_keys",
      [
        .text("id").primaryKey, .text("name"), .text("scopes"), .blob("secret_digest"), .integer("created"),
        .integer("revoked").optional, .text("display_name").optional, .blob("code").optional,
      ]),
  ]

  private static let devices = [
    // `installation` equals the column `device` of UAF keys, and the hexadecimal digits of the column `device` of containers.
    SQLTable(
      "devices",
      [
        .text("id").primaryKey, .text("user_id").references("users", "id"), .text("installation"),
        .text("name"), .text("platform"), .integer("created"),
        // The strictest of its own lock and its container's compliance state, stored so that one row suffices.
        .text("standing"), .integer("ordered_lock"), .text("ordered_reason"), .integer("ordered").optional,
        .blob("code").optional,
      ],
      constraints: ["UNIQUE (user_id, installation)"]),
    // A public key belongs to one authenticator, of any kind and state. The keys of a deleted user are kept, without their owner.
    SQLTable(
      "authenticator_keys",
      [
        .blob("digest").primaryKey, .text("kind"), .text("authenticator").optional,
        .text("user_id").optional.references("users", "id"),
      ],
      indexes: [SQLIndex("keys_of_authenticator", "user_id, authenticator")], isClustered: true),
  ]

  private static let transactions = [
    SQLTable(
      "transactions",
      [
        .number("number"), .text("id").unique, .text("user_id").optional.references("users", "id"),
        .text("content"), .text("statuses"), .integer("created"), .integer("expires"),
        .blob("sealed_number").optional, .integer("wrong_numbers").defaulting(to: 0), .integer("initiated"),
        // Bytes of content and signature, for the limit on transactions that devices initiate.
        .integer("size"), .text("state"), .text("decision").optional, .text("container").optional,
        .integer("decided").optional,
        // When the device's last report before the decision arrived, if a named requirement applies.
        .integer("last_report").optional, .text("end_reason").optional, .text("end_message").optional,
        .text("typed_fields").optional, .text("requirements").optional, .integer("typed").defaulting(to: 0),
        .text("uaf_session").optional, .text("requester").optional, .text("sole_kind").optional,
        // The mechanism of the authenticator app that answered, and the answered message.
        .text("app").optional, .text("app_message").optional,
        // The bytes that a UAF authenticator or an app has signed, as received, and the key of an app's answer.
        .blob("evidence").optional, .blob("evidence_key").optional,
        .blob("code").optional,
      ],
      indexes: [
        SQLIndex("pending_transactions", "user_id, created", where: "state = 'pending'"),
        SQLIndex("pending_by_expiry", "expires", where: "state = 'pending'"),
        SQLIndex("transactions_of_container", "container, decided", where: "container IS NOT NULL"),
        SQLIndex("initiated_transactions", "user_id, number", where: "initiated = 1"),
      ]),
    // The rows of one lane become visible in order.
    SQLTable(
      "transaction_changes", [.text("user_id"), .integer("swept").optional], isNumberedByLane: true),
  ]

  private static let clients = [
    SQLTable(
      "clients",
      [
        .text("id").primaryKey, .text("name"), .text("authentication"), .blob("key_set").optional,
        .blob("secret_digest").optional, .text("delivery"), .text("endpoint").optional,
        .text("request_algorithm").optional, .integer("number_digits").optional, .integer("created"),
        .integer("revoked").optional, .blob("code").optional,
      ]),
    SQLTable(
      "backchannel_requests",
      [
        .blob("digest").primaryKey, .text("txn").unique.references("transactions", "id"),
        .text("client").references("clients", "id"), .text("delivery"), .integer("expires"),
        .blob("sealed_notice").optional, .integer("poll_interval"), .integer("last_poll").optional,
        .integer("issued").optional, .blob("code").optional,
      ],
      indexes: [SQLIndex("backchannel_requests_by_expiry", "expires")]),
  ]

  /// The undelivered events of each receiver, and the receivers of every event.
  private static let outbox = [
    SQLTable(
      "outbox",
      [
        .number("number"), .text("channel"), .text("receiver"), .text("event"), .text("subject"),
        .text("user_id").optional, .text("authenticator").optional, .integer("created"), .integer("expires"),
        .integer("due"), .integer("attempts"), .blob("code").optional,
      ],
      indexes: [
        SQLIndex("outbox_of_receiver", "channel, receiver, number"),
        SQLIndex("outbox_by_due", "channel, due"),
        SQLIndex("outbox_by_expiry", "expires"),
      ]),
    SQLTable(
      "outbox_receivers", [.text("channel"), .text("receiver"), .integer("lifetime")],
      constraints: ["PRIMARY KEY (channel, receiver)"], isClustered: true),
  ]

  private static let maintenance = [
    // The claimed ids of signed requests.
    SQLTable(
      "requests", [.blob("id"), .text("container"), .integer("expires")],
      constraints: ["PRIMARY KEY (container, id)"], indexes: [SQLIndex("requests_by_expiry", "expires")],
      isClustered: true),
    SQLTable(
      "signing_keys",
      [
        .number("number"), .text("id").unique, .blob("sealed"), .blob("public_key"), .integer("created"),
        .integer("retired").optional, .text("succession").optional, .blob("code").optional,
      ],
      indexes: [SQLIndex("one_signing_key", "(retired IS NULL)", unique: true, where: "retired IS NULL")]),
    // One chain for each lane.
    SQLTable("audit", [.text("event"), .blob("hash")], isNumberedByLane: true),
    // The number of repeatable entries of a requester in the hour that began at `since`.
    SQLTable(
      "audit_counts", [.text("requester").primaryKey, .integer("entries"), .integer("since")],
      indexes: [SQLIndex("audit_counts_by_time", "since")], isClustered: true),
  ]
}
