import SignetSQL

/// The tables of the server's database; those of a kind of authenticators stand with the kind (``AuthenticatorTable``).
///
/// A published migration is never edited; the next is added. None is published yet.
enum Schema {
  static let current = SQLSchema(baseline: baseline)

  /// The names of the tables.
  static let tables = baseline.map(\.name)

  private static let baseline =
    users + devices + transactions + clients + outbox + AuthenticatorRecord.Kind.tables.flatMap(\.tables)
    + upkeep

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
    // What one requester has used of a user's budget of requests: `challenges` and `challenge_after` of its own.
    SQLTable(
      "request_shares",
      [
        .text("user_id").references("users", "id"), .text("requester"), .integer("challenges"),
        .integer("challenge_after"),
      ],
      constraints: ["PRIMARY KEY (user_id, requester)"], isClustered: true),
    // Who has to wait after wrong codes.
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
    // What a person holds. `installation` is what containers and UAF keys have as `device`: the former its hexadecimal digits.
    SQLTable(
      "devices",
      [
        .text("id").primaryKey, .text("user_id").references("users", "id"), .text("installation"),
        .text("name"), .text("platform"), .integer("created"),
        // The gravest of its own order and of its container's standing, written down so that one row answers.
        .text("standing"), .integer("ordered_lock"), .text("ordered_reason"), .integer("ordered").optional,
        .blob("code").optional,
      ],
      constraints: ["UNIQUE (user_id, installation)"]),
    // One public key belongs to one authenticator, of whatever kind and state. Those of a deleted user stay, without a name.
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
        // Bytes of content and signature: what a device may have signed unasked is counted in them.
        .integer("size"), .text("state"), .text("decision").optional, .text("container").optional,
        .integer("decided").optional,
        // When the device's last report had come at the decision, where something is required by name.
        .integer("last_report").optional, .text("end_reason").optional, .text("end_message").optional,
        .text("typed_fields").optional, .text("requirements").optional, .integer("typed").defaulting(to: 0),
        .text("uaf_session").optional, .text("requester").optional, .text("sole_kind").optional,
        // The mechanism of the authenticator app that answered, and the message that it answered.
        .text("app").optional, .text("app_message").optional,
        // What a UAF authenticator or an app has signed, as it came, and the key of an app's answer.
        .blob("evidence").optional, .blob("evidence_key").optional,
        .blob("code").optional,
      ],
      indexes: [
        SQLIndex("pending_transactions", "user_id, created", where: "state = 'pending'"),
        SQLIndex("pending_by_expiry", "expires", where: "state = 'pending'"),
        SQLIndex("transactions_of_container", "container, decided", where: "container IS NOT NULL"),
        SQLIndex("initiated_transactions", "user_id, number", where: "initiated = 1"),
      ]),
    // Those of one lane become visible in order.
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

  /// What receivers are to be told, and who hears of every event.
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

  private static let upkeep = [
    // Ids of signed requests, each of which is good once.
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
    // A chain for each lane.
    SQLTable("audit", [.text("event"), .blob("hash")], isNumberedByLane: true),
    // How many entries it has, of the hour that began then, of what somebody can repeat without end.
    SQLTable(
      "audit_counts", [.text("requester").primaryKey, .integer("entries"), .integer("since")],
      indexes: [SQLIndex("audit_counts_by_time", "since")], isClustered: true),
  ]
}
