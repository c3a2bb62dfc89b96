import SignetSQL

/// The tables of the server's database.
///
/// A published migration is never edited; the next is added. None is published yet.
enum Schema {
  /// Reads the index by which each code finds its credential, some 20 MiB of a million credentials, so that the first codes after a
  /// start need not wait for its pages one by one; for SQLite.
  static let lookedUpByCodes =
    "SELECT count(user_id) FROM credentials INDEXED BY credentials_of_user WHERE user_id IS NOT NULL"

  static let current = SQLSchema(baseline: baseline)

  /// The names of the tables.
  static let tables = baseline.map(\.name)

  private static let baseline =
    users + devices + containers + codes + transactions + clients + outbox + uaf + pushApps + upkeep

  private static let users = [
    SQLTable(
      "users",
      [
        .text("id").primaryKey, .text("subject").unique, .integer("created"),
        .integer("challenges").defaulting(to: 0),
        .integer("challenge_after").defaulting(to: 0), .blob("user_code").optional, .text("state"),
        .text("state_reason"), .integer("state_since"), .blob("code").optional,
      ], indexes: [SQLIndex("deleted_users", "id", where: "state = 'deleted'")], isClustered: true),
    // What one requester has used of a user's budget of requests: `challenges` and `challenge_after` of its own.
    SQLTable(
      "request_shares",
      [
        .text("user_id").references("users", "id"), .text("requester"), .integer("challenges"),
        .integer("challenge_after"),
      ],
      constraints: ["PRIMARY KEY (user_id, requester)"], isClustered: true),
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
      constraints: ["UNIQUE (user_id, installation)"])
  ]

  private static let containers = [
    SQLTable(
      "activations",
      [
        .text("id").primaryKey, .text("user_id").references("users", "id"), .blob("sealed_invite_key"),
        .blob("salt"), .integer("memory"), .integer("passes"), .integer("lanes"), .blob("profile"),
        .integer("created"), .integer("expires"), .integer("failed_attempts").defaulting(to: 0),
        .text("state"), .blob("code").optional,
      ],
      indexes: [SQLIndex("one_open_activation", "user_id", unique: true, where: "state = 'open'")]),
    SQLTable(
      "containers",
      [
        .text("id").primaryKey, .text("user_id").references("users", "id"),
        .text("activation").references("activations", "id"), .blob("device"), .text("name"),
        .text("platform"), .text("keystore"), .blob("session_key"), .blob("encryption_key"),
        .blob("signing_key"), .blob("profile"), .integer("created"), .text("state"),
        .integer("failed_signatures").defaulting(to: 0), .integer("simulated").defaulting(to: 0),
        .text("renews").optional, .integer("renewals").defaulting(to: 0), .text("succession").optional,
        .integer("renewal_wanted").defaulting(to: 0), .text("ended").optional, .text("key_origin").optional,
        // How the server stands to it, written down from `account_states` so that one row answers.
        .text("standing"), .integer("report_wanted").defaulting(to: 0),
        .blob("code").optional,
      ],
      indexes: [
        SQLIndex("containers_of_user", "user_id, created"),
        SQLIndex("containers_of_activation", "activation"),
        SQLIndex("successors", "renews", where: "state = 'pending'"),
      ]),
    // One public key belongs to one authenticator, of whatever kind and state. Those of a deleted user stay, without a name.
    SQLTable(
      "authenticator_keys",
      [
        .blob("digest").primaryKey, .text("kind"), .text("authenticator").optional,
        .text("user_id").optional.references("users", "id"),
      ],
      indexes: [SQLIndex("keys_of_authenticator", "user_id, authenticator")], isClustered: true),
    SQLTable(
      "account_states",
      [
        .text("container").primaryKey.references("containers", "id"), .integer("revision"),
        .blob("policies").optional, .integer("ordered_lock"), .text("ordered_reason"), .text("verdict"),
        .text("verdict_reason"), .blob("challenge").optional, .integer("challenge_expires"),
        .text("report").optional, .integer("reported").optional, .blob("code").optional,
      ], isClustered: true),
    SQLTable(
      "account_orders",
      [
        .number("number"), .text("id").unique, .text("container").references("containers", "id"),
        .text("action"), .text("reason"), .integer("created"), .text("receipt").optional,
        .integer("received").optional, .blob("code").optional,
      ],
      indexes: [SQLIndex("account_orders_of_container", "container, number")]),
    SQLTable(
      "push_targets",
      [
        .text("id").primaryKey, .text("container").references("containers", "id"), .text("name"),
        .text("service"), .blob("sealed_target"), .integer("created"),
      ],
      indexes: [SQLIndex("push_targets_of_container", "container")]),
  ]

  /// What makes one-time passwords, and who has to wait.
  private static let codes = [
    SQLTable(
      "credentials",
      [
        .number("number"), .text("id").unique, .text("user_id").optional.references("users", "id"),
        .text("serial").optional.unique, .text("kind"), .text("algorithm"), .integer("digits"),
        .integer("period"), .integer("start"), .blob("sealed_secret"), .integer("silent"),
        .integer("created"), .text("state"), .integer("last_counter"), .integer("drift"),
        .integer("failures"), .blob("code").optional,
      ],
      indexes: [SQLIndex("credentials_of_user", "user_id", where: "user_id IS NOT NULL")]),
    SQLTable(
      "waits",
      [
        .text("user_id"), .blob("client"), .integer("failures"), .integer("until"), .integer("expires"),
      ],
      constraints: ["PRIMARY KEY (user_id, client)"], indexes: [SQLIndex("waits_by_expiry", "expires")],
      isClustered: true),
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
        .text("uaf_session").optional, .text("requester").optional,
        // The mechanism of the authenticator app that answered, and the message that it answered.
        .text("app").optional, .text("app_message").optional,
        // What a UAF authenticator or an app has signed, as it came, and the key of an app's answer.
        .blob("evidence").optional, .blob("evidence_key").optional,
        .blob("code").optional,
      ],
      indexes: [
        SQLIndex("pending_transactions", "user_id, created", where: "state = 'pending'"),
        SQLIndex("pending_by_expiry", "expires", where: "state = 'pending'"),
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

  private static let uaf = [
    SQLTable(
      "uaf_credentials",
      [
        .number("number"), .text("aaid"), .blob("key_id"), .text("user_id").references("users", "id"),
        .blob("public_key"), .integer("algorithm"), .integer("key_format"), .integer("sign_counter"),
        .integer("registration_counter"), .integer("authenticator_version"), .integer("created"),
        .text("state"), .text("device").optional, .text("model_proof"), .integer("key_protection"),
        .blob("code").optional,
      ],
      constraints: ["UNIQUE (aaid, key_id)"],
      indexes: [SQLIndex("uaf_credentials_of_user", "user_id, number")]),
    SQLTable(
      "uaf_sessions",
      [
        .text("id").primaryKey, .text("operation"), .text("user_id").optional.references("users", "id"),
        .text("context").optional, .text("txn").optional.references("transactions", "id"),
        .blob("request").optional, .blob("token_digest").optional, .integer("token_expires").optional,
        .integer("created"), .integer("expires"), .text("dispatcher").optional, .text("target").optional,
        .blob("sealed_payload").optional, .text("state"), .integer("status").optional,
        .integer("asm_status").optional, .integer("client_error").optional, .text("authenticators").optional,
        .integer("ended").optional, .blob("client").optional, .text("requester").optional,
        .blob("code").optional,
      ],
      indexes: [
        SQLIndex("uaf_sessions_by_token", "token_digest", unique: true, where: "token_digest IS NOT NULL"),
        SQLIndex("uaf_sessions_by_creation", "created"),
        SQLIndex("uaf_sessions_of_transaction", "txn", where: "txn IS NOT NULL"),
        SQLIndex(
          "unanswered_uaf_sessions", "expires", where: "state = 'requested' AND token_digest IS NULL"),
        SQLIndex("uaf_sessions_of_target", "target, created", where: "state = 'tokenCreated'"),
        SQLIndex(
          "asking_uaf_sessions", "user_id",
          where: "requester IS NOT NULL AND state IN ('requested', 'tokenCreated')"),
        SQLIndex(
          "uaf_sessions_of_client", "client, created", where: "client IS NOT NULL AND state <> 'succeeded'"),
      ]),
    SQLTable(
      "uaf_targets",
      [
        .text("id").primaryKey, .text("user_id").references("users", "id"), .text("device").optional,
        .text("name"), .text("dispatcher").optional, .blob("sealed_target").optional, .blob("signature_key"),
        .blob("encryption_key").optional, .integer("created"), .blob("code").optional,
      ],
      constraints: ["UNIQUE (user_id, name)"],
      indexes: [SQLIndex("uaf_targets_of_device", "device", where: "device IS NOT NULL")]),
  ]

  private static let pushApps = [
    SQLTable(
      "pushauth_mechanisms",
      [
        .text("id").primaryKey, .text("user_id").references("users", "id"),
        .text("mechanism").optional.unique, .blob("sealed_secret"), .blob("challenge"),
        .blob("sealed_device").optional, .integer("created"), .integer("expires"), .text("state"),
        .text("credential").optional, .blob("seen_changes"), .blob("code").optional,
      ],
      indexes: [
        SQLIndex("pushauth_mechanisms_of_user", "user_id, created"),
        SQLIndex("open_pushauth_mechanisms", "expires", where: "state = 'open'"),
      ]),
    SQLTable(
      "pushauth_messages",
      [
        .text("id").primaryKey, .text("mechanism").references("pushauth_mechanisms", "id"), .text("kind"),
        .blob("challenge"), .blob("sealed_number").optional, .integer("created"), .integer("expires"),
        .text("state"), .integer("wrong_numbers").defaulting(to: 0), .integer("answered").optional,
        .text("txn").optional.references("transactions", "id"), .blob("sealed_token").optional,
        .text("requester").optional, .blob("code").optional,
      ],
      indexes: [
        SQLIndex("pushauth_messages_of_mechanism", "mechanism"),
        SQLIndex("pushauth_messages_of_transaction", "txn", where: "txn IS NOT NULL"),
        SQLIndex("pushauth_messages_by_expiry", "expires"),
      ]),
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
