import SignetCrypto
import SignetIntegrity
package import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetStorage

extension ServerConfigurationFile {
  /// The JSON Schema of `server.json`.
  ///
  /// | word | |
  /// |---|---|
  /// | `x-values` | the allowed texts, in words |
  /// | `x-unit` | the unit of a number |
  /// | `x-default` | the effect of leaving the setting out, in words |
  /// | `x-reloaded` | whether a reload (SIGHUP) applies a change |
  package static var jsonSchema: JSONObject {
    var schema: JSONObject = [
      "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "server.json of signet-server",
      "$comment": "Descriptions are Markdown; their links are relative to the docs of Signet.",
    ]
    for (name, value) in Self.schema.jsonSchema.members { schema[name] = value }
    return schema
  }

  /// The keys of the settings that a reload (SIGHUP) applies.
  package static let reloaded = schema.settings.filter(\.isReloaded).map(\.name)

  /// The defaults; required settings have placeholders here.
  private static let absent: ServerConfigurationFile = {
    do {
      var settings = ServerConfigurationFile(
        serverURL: try ServerURL("localhost/main"),
        profile: ContainerProfile(protection: .device, totp: .standard))
      settings.tls.authority = nil
      return settings
    } catch { preconditionFailure("a URL of Signet is not valid: \(error)") }
  }()

  /// The format, which is read before any other setting.
  static let formatSetting = Setting(
    required: "format", \ServerConfigurationFile.writtenFormat, .integer(1...format), "the format of the file"
  )

  static let schema = SettingsSchema(
    absent: absent,
    settings: [
      formatSetting,
      Setting(
        required: "url", \.services.serverURL,
        .string("HOST[:PORT]/DOMAIN", read: { try ServerURL($0) }, text: \.shortForm),
        "where devices find the server, and its id, which is part of everything that is signed. Do not change it once a device is activated. The port is 443 by default"
      ),
      Setting(
        group: "listen",
        [
          Setting(
            required: "address", \.listenAddress, .numericAddress,
            "`::` for all IPv6 and IPv4 addresses"),
          Setting(required: "port", \.listenPort, .integer(1...65_535), "the TCP port"),
        ], "where the server listens; `serve --listen` overrides it"),
      Setting(
        required: "profile", \.services.profile,
        .object("a [profile](protocol.md#34-profile)", read: ContainerProfile.read, json: \.json),
        "what a new container holds and what protects it, with the policies of [policies.md](policies.md)"
      ).reloaded,
      Setting(
        group: "tls",
        [
          Setting(
            required: "certificate", \.tls.certificate, .file,
            "the server's certificate, then its intermediates, PEM"),
          Setting(required: "key", \.tls.key, .file, "the certificate's private key, PEM"),
          Setting(
            optional: "authority", \.tls.authority, .file, "the authority that clients trust, PEM",
            default: "clients already trust the issuer"),
        ], "the files of TLS"),
      Setting(
        group: "devices", devices,
        "requirements for devices, and the reactions if a device does not meet them"
      ).reloaded,
      Setting(
        group: "limits", limits, "lifetimes of invites and transactions, and limits of attempts and requests"
      ).reloaded,
      Setting(
        group: "codes", codeRules,
        "how one-time passwords are compared ([protocol.md](protocol.md#6-one-time-passwords))"
      ).reloaded,
      Setting(group: "connections", connectionLimits, "the maximum numbers of simultaneous connections"),
      Setting(
        "push", \.push, PushSettings.schema.shape, "the services that carry [pushes](#push)",
        default: "none: devices poll, or keep a request open"),
      Setting(
        group: "database",
        [
          Setting(
            "busyTimeout", \.busyTimeout, .seconds(1...60),
            "how long a change waits while another process writes; then a request is answered `503` with `Retry-After`"
          ),
          Setting(
            optional: "server", \.databaseServer,
            .string(
              "a URI that begins with postgres:// or postgresql://", pattern: "^postgres(ql)?://",
              isSecret: true, where: mayNameServer),
            "the PostgreSQL database (13 or newer) that stores the data, as a URI of libpq; `init --storage` sets it. Its user must own the tables, which the server creates; a process that stops inside of a transaction loses its connection after three seconds. A password is better kept in `~/.pgpass` of the server's user; `sslmode=verify-full` where the database is on another machine. A key and a certificate of the server for TLS stand in the URI too: `PGSSLKEY`, `PGSSLCERT` and variables that begin with `PGSERVICE` have no effect",
            default: "the folder's own SQLite file"),
        ], "where the data is stored"),
      Setting(
        group: "openID",
        [
          Setting(
            optional: "authority", \.openIDAuthority, .file,
            "certificates that are trusted in place of the system's for [notifications](protocol.md#114-notices) of clients, PEM",
            default: "the system's")
        ], "settings of OpenID Connect"),
      Setting(
        "requirements", \.services.requirements.own, NamedRequirements.shape,
        "requirements that relying parties can name, [below](#requirements)", default: "the built-in ones"
      ).reloaded,
      Setting(
        group: "operator",
        [
          Setting(
            "addresses", \.services.operatorAddresses,
            .set(of: .numericAddress, ...64),
            "the addresses from which the operator checks whether the server is [ready](#readiness)")
        ], "settings of what only the operator can access"
      ).reloaded,
      Setting(
        optional: "uaf", \.uaf, UAFSettings.schema.shape,
        "[FIDO UAF](#fido-uaf) ([protocol.md](protocol.md#12-fido-uaf))", default: "not served"),
      Setting(
        optional: "runtime", \.runtime,
        .string(
          "the full path of a folder in memory", pattern: "^/",
          where: { $0.hasPrefix("/") && !$0.utf8.contains(0) }),
        "where [several processes](#several-processes) that serve this data folder share handshake keys",
        default: "one process serves the folder"),
      Setting(
        required: "masterKeyCheck", \.masterKeyCheck,
        .string(
          "as `init` wrote it", isSecret: true, read: { try Base64URL.decode($0) }, text: Base64URL.encode),
        "a check value that detects a master key other than that of the folder"),
    ],
    check: { settings, _ in
      // A waiting request keeps its connection, so at least one connection must remain for decisions.
      let connections = settings.connections
      for (name, value, enclosingName, limit) in [
        ("waiting", connections.waiting, "total", connections.total),
        ("waitingPerAddress", connections.waitingPerAddress, "perAddress", connections.perAddress),
      ] {
        guard let value, value >= limit else { continue }
        throw Refusal.reason(
          "\"connections.\(name)\" must be less than \"\(enclosingName)\" (\(limit)); found \(value)")
      }
      try settings.uaf?.check(domain: settings.serverURL.domain, among: settings.requirements)
    })

  private static let devices: [Setting<ServerConfigurationFile>] = [
    Setting(
      "keystore", \.services.keystoreRequirement, KeystoreRequirement.shape,
      "the minimum keystore for a device's keys, according to the device. `simulated` is hardware, or a program that simulates it"
    ),
    Setting(
      "reactions", \.services.accountRules.reactions,
      .map(to: AccountRules.Reaction.shape) { name in
        AccountPolicySet.isName(name) ? nil : "is not a policy name: 1 to 64 visible ASCII characters"
      },
      "the reaction to a broken account policy, by its name ([account-policies.md](account-policies.md#at-the-server))",
      default: "`lock`"),
    Setting(
      "flavours", \.services.accountRules.flavours, .set(of: .string("a name, such as release")),
      "the flavours of apps that are accepted; others are locked", default: "any"),
    Setting(
      optional: "tampering", \.services.accountRules.tampering, IntegritySettings.schema.shape,
      "how the server weighs the findings of devices ([integrity.md](integrity.md#settings))",
      default: "the device's own score"),
  ]

  private static let limits: [Setting<ServerConfigurationFile>] = [
    Setting(
      "inviteAttempts", \.services.inviteAttempts, .integer(1...100),
      "the number of wrong proofs after which an invite is void"),
    Setting(
      "inviteLifetime", \.services.inviteLifetime, .seconds(60...2_592_000),
      "how long an invite is valid, unless `activation create --lifetime` sets another time"),
    Setting(
      "transactionLifetime", \.services.transactionLifetime, .seconds(TransactionDraft.lifetimes),
      "how long a transaction is valid, unless its requester sets another time"),
    Setting(
      "codeAttempts", \.services.codeAttempts, .integer(1...100),
      "the number of wrong one-time passwords in a row after which a credential is locked until two right ones in a row or `user unlock`, and of wrong signatures after which a container is locked until `user unlock`"
    ),
    Setting(
      "pendingTransactions", \.services.challengeLimits.pending, .integer(1...64),
      "the maximum number of pending requests of all kinds for a user; for one requester ([protocol](protocol.md#54-how-often-a-user-is-asked)) half of it, rounded up"
    ),
    Setting(
      "challenges", \.services.challengeLimits.challenges, .integer(1...1000),
      "the number of requests in a row without an acceptance after which each further one must wait; for one requester half of it, rounded up"
    ),
    Setting(
      "challengeWait", \.services.challengeLimits.wait, .seconds(1...86_400),
      "the first wait; each next one is twice as long"),
    Setting(
      "challengeLongestWait", \.services.challengeLimits.longestWait, .seconds(1...86_400),
      "the longest wait"),
    Setting(
      "numberAttempts", \.services.challengeLimits.wrongNumbers, .integer(1...10),
      "the number of wrong numbers after which a transaction is denied"),
    Setting(
      "initiatedTransactions", \.services.challengeLimits.initiated, .integer(1...1000),
      "the maximum number of transactions that the devices of a user can initiate within an hour; their total size is limited to 4 KiB for each (at least 32 KiB)"
    ),
  ]

  private static let codeRules: [Setting<ServerConfigurationFile>] = [
    Setting("lookBack", \.services.codes.lookBack, .integer(0...20), "time steps that a code may be late"),
    Setting(
      "lookAhead", \.services.codes.lookAhead, .integer(0...20), "time steps that a code may be early"),
    Setting(
      "counterLookAhead", \.services.codes.counterLookAhead, .integer(0...100),
      "how far a counter may be ahead of the next one"),
    Setting(
      "resyncWindow", \.services.codes.resyncWindow, .integer(10...1000),
      "how far two codes in a row may be from the expected counter or time"),
    Setting(
      "driftLimit", \.services.codes.driftLimit, .integer(0...100),
      "how many time steps single codes may move the learnt drift of a clock"),
    Setting(
      "freeAttempts", \.services.codes.freeAttempts, .integer(0...20),
      "the number of refused attempts for one user from one address without a wait"),
    Setting(
      "firstWait", \.services.codes.firstWait, .seconds(0...3600),
      "the wait after the next one; each further one doubles it; 0 for no waits"),
    Setting("longestWait", \.services.codes.longestWait, .seconds(1...86_400), "the longest wait"),
  ]

  private static let connectionLimits: [Setting<ServerConfigurationFile>] = [
    Setting("total", \.connections.total, .integer(16...100_000), "connections"),
    Setting(
      "perAddress", \.connections.perAddress, .integer(1...100_000),
      "connections from one IPv4 address, or from one IPv6 /64 network"),
    Setting(
      optional: "waiting", \.connections.waiting, .integer(0...100_000),
      "connections in which a device waits for a change ([protocol.md](protocol.md#56-waiting)), fewer than `total`",
      default: "half of `total`"),
    Setting(
      optional: "waitingPerAddress", \.connections.waitingPerAddress, .integer(0...100_000),
      "waiting connections from one address, fewer than `perAddress`", default: "half of `perAddress`"),
  ]

  /// True if a text is the URI of a PostgreSQL server.
  package static func mayNameServer(_ address: String) -> Bool {
    !address.utf8.contains(0) && ["postgres://", "postgresql://"].contains { address.hasPrefix($0) }
  }

  /// True if a text is a name within the folder or a full path.
  static func mayNameFile(_ name: String) -> Bool {
    let isInside = !name.contains("/") && name != "." && name != ".."
    return !name.isEmpty && !name.utf8.contains(0) && (isInside || name.hasPrefix("/"))
  }
}

extension KeystoreRequirement: Shaped {}
extension AccountRules.Reaction: Shaped {}
