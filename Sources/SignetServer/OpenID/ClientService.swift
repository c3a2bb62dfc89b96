import SignetCrypto
import SignetProtocol
package import SignetStorage
import SignetSystem

/// The OpenID Connect clients, for operators.
package struct ClientService: Sendable {
  private let context: ServiceContext

  package init(_ context: ServiceContext) { self.context = context }

  package struct NewClient: Sendable {
    package let record: ClientRecord
    /// Its secret of 256 random bits, if it has one; the server stores only the digest.
    package let secret: String?
  }

  /// Registers a client.
  ///
  /// - Parameters:
  ///   - registration: The operator's data.
  ///   - actor: The caller's name in the audit log.
  /// - Returns: The client.
  /// - Throws: ``Problem``.
  package func add(_ registration: ClientRegistration, by actor: AuditActor) async throws
    -> NewClient
  {
    let now = context.clock.now
    var record = ClientRecord(
      id: ID(unchecked: Hex.encode(context.random.bytes(8))), name: registration.name,
      authentication: registration.authentication, delivery: registration.delivery, created: now)
    record.keySet = registration.keySet
    record.notificationEndpoint = registration.notificationEndpoint
    record.requestAlgorithm = registration.requestAlgorithm
    record.numberDigits = registration.numberDigits
    var secret: String?
    if registration.authentication == .clientSecretBasic {
      let generated = Base64URL.encode(context.random.bytes(32))
      record.secretDigest = Self.digest(ofSecret: generated)
      secret = generated
    }
    let event = context.audit(by: actor)(
      .clientAdded(client: record.id, name: record.name, record.authentication, record.delivery))
    try await context.storage.addClient(record, audit: event)
    return NewClient(record: record, secret: secret)
  }

  /// Returns all clients, including revoked ones, oldest first.
  ///
  /// - Throws: ``Problem``.
  package func all() async throws -> [ClientRecord] {
    try await context.storage.clients()
  }

  /// Returns a client, revoked or not.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  package func find(_ id: ID<ClientRecord>) async throws -> ClientRecord {
    guard let client = try await context.storage.anyClient(id) else { throw Self.unknown }
    return client
  }

  /// Revokes a client permanently.
  ///
  /// It gets no more tokens, also for earlier requests. Its undecided requests are withdrawn.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  package func revoke(_ id: ID<ClientRecord>, by actor: AuditActor) async throws {
    let audit = context.audit(by: actor)
    let event = audit(.clientRevoked(client: id))
    let exists = try await context.storage.revokeClient(id, at: audit.time, audit: event) {
      audit(.transactionWithdrawn(transaction: $0, reason: ""))
    }
    guard exists else { throw Self.unknown }
  }

  private static let unknown = Problem(.unknown, "There is no client with this id.")

  /// Returns the stored digest of a secret.
  ///
  /// The secret has 256 random bits, so a fast hash is enough.
  static func digest(ofSecret secret: String) -> [UInt8] {
    HashFunction.sha256.digest(of: Array(secret.utf8))
  }
}

extension ClientRecord {
  var actor: AuditActor { .client(id) }
}
