import SignetCrypto
import SignetProtocol
package import SignetStorage
import SignetSystem

/// The API keys of relying parties and operators.
package struct APIKeyService: Sendable {
  /// The permissions of a key.
  package enum Scope: String, Hashable, Sendable, CaseIterable {
    /// Validate codes, resynchronize and verify credentials; create and read transactions.
    case relyingParty = "relying-party"
    /// Manage users, activations, containers, tokens and keys; read the audit log.
    case admin
  }

  private static let prefix = "signet"
  private let context: ServiceContext
  /// A small limit, since a server has few relying parties.
  private let cache = BoundedCache<ID<APIKeyRecord>, APIKeyRecord>(limit: 256)

  /// Creates the service of a context.
  package init(_ context: ServiceContext) { self.context = context }

  /// A new key, `signet_<id>_<secret>`.
  ///
  /// It is shown once; the server stores a hash of the secret, which has 256 random bits.
  package struct NewKey: Sendable {
    /// The id of the key.
    package let id: ID<APIKeyRecord>
    /// The key as text.
    package let text: String
  }

  /// Creates a key.
  ///
  /// - Parameters:
  ///   - name: The name for operators.
  ///   - displayName: The requester's name that users see; `nil` for `name`.
  ///   - scopes: The permissions; at least one.
  ///   - actor: The caller's name in the audit log.
  /// - Returns: The key, which the server cannot show again.
  /// - Throws: ``Problem``.
  package func create(
    name: String, displayName: String? = nil, scopes: [Scope], by actor: AuditActor
  ) async throws -> NewKey {
    // Terminals show names like user ids, so the same rules apply.
    do {
      _ = try UserID(name)
      _ = try displayName.map { try UserID($0) }
    } catch {
      throw Problem(.malformed, "the name of a key must have 1 to 128 characters, without control characters")
    }
    guard !scopes.isEmpty else { throw Problem(.malformed, "a key must have at least one scope") }
    let id = ID<APIKeyRecord>(unchecked: Hex.encode(context.random.bytes(8)))
    let secret = Base64URL.encode(context.random.bytes(32))
    var record = APIKeyRecord(
      id: id, name: name, scopes: scopes.map(\.rawValue), secretDigest: Self.digest(secret),
      created: context.clock.now)
    record.displayName = displayName
    let event = context.audit(by: actor)(.keyAdded(key: id, name: name))
    try await context.storage.addAPIKey(record, audit: event)
    return NewKey(id: id, text: "\(Self.prefix)_\(id)_\(secret)")
  }

  /// Returns all keys, including revoked ones, oldest first.
  ///
  /// - Throws: ``Problem``.
  package func all() async throws -> [APIKeyRecord] {
    try await context.storage.apiKeys()
  }

  /// Revokes a key, but not the last valid one of scope ``Scope/admin``, which is needed to create others.
  ///
  /// - Throws: ``Problem/Code/unknown``, or ``Problem/Code/lastAdminKey``.
  package func revoke(_ id: ID<APIKeyRecord>, by actor: AuditActor) async throws {
    let event = context.audit(by: actor)(.keyRevoked(key: id))
    let now = context.clock.now
    let outcome = try await context.storage.revokeAPIKey(
      id, keepingOneOf: Scope.admin.rawValue, at: now, audit: event)
    switch outcome {
    case .revoked: return
    case .unknown: throw Problem(.unknown, "There is no API key with this id.")
    case .last:
      throw Problem(.lastAdminKey, "Create another key with this scope first, then revoke this one.")
    }
  }

  /// Returns the key of a request, without a database read if the key was seen before.
  ///
  /// The key may have been revoked since. The storage step that changes something checks it again, as `Storage.attemptCode`
  /// does, so a revocation takes effect at once in all processes.
  ///
  /// - Parameters:
  ///   - authorization: The `Authorization` header.
  ///   - scope: The required scope.
  /// - Returns: The key.
  /// - Throws: ``Problem/Code/unauthorized``, or ``Problem/Code/forbidden`` for a key without the scope.
  func seenKey(authorization: String?, scope: Scope) async throws -> APIKeyRecord {
    let parts = try Self.parts(authorization)
    if let key = inMemory(parts, scope) { return key }
    let key = try await verified(parts, scope)
    cache[key.id] = key
    return key
  }

  /// Returns the key of a request if it was seen before; `nil` if ``seenKey(authorization:scope:)`` must read it.
  ///
  /// - Parameters:
  ///   - authorization: The `Authorization` header.
  ///   - scope: The required scope.
  /// - Returns: The key.
  /// - Throws: ``Problem/Code/unauthorized`` if the header contains no key.
  func keyInMemory(authorization: String?, scope: Scope) throws(Problem) -> APIKeyRecord? {
    inMemory(try Self.parts(authorization), scope)
  }

  private func inMemory(_ parts: (id: ID<APIKeyRecord>, secret: String), _ scope: Scope) -> APIKeyRecord? {
    guard let key = cache[parts.id], key.scopes.contains(scope.rawValue),
      constantTimeEqual(key.secretDigest, Self.digest(parts.secret))
    else { return nil }
    return key
  }

  /// Returns the key of a request, read from the storage.
  ///
  /// - Parameters:
  ///   - authorization: The `Authorization` header.
  ///   - scope: The required scope.
  /// - Returns: The key.
  /// - Throws: ``Problem/Code/unauthorized``, or ``Problem/Code/forbidden`` for a key without the scope.
  package func key(authorization: String?, scope: Scope) async throws -> APIKeyRecord {
    try await verified(Self.parts(authorization), scope)
  }

  /// Removes a key from the cache because it is no longer valid.
  func forget(_ id: ID<APIKeyRecord>) { cache[id] = nil }

  static func parts(_ authorization: String?) throws(Problem) -> (id: ID<APIKeyRecord>, secret: String) {
    guard let authorization, authorization.utf8.count <= 256 else { throw Self.refused }
    let scheme = "bearer ".utf8
    var rest = authorization.utf8[...]
    for byte in scheme {
      // The scheme's name is case-insensitive (RFC 9110 section 11.1).
      guard let first = rest.popFirst(), (0x41...0x5A).contains(first) ? first | 0x20 == byte : first == byte
      else { throw Self.refused }
    }
    // base64url contains underscores, so the secret is everything after the second one.
    let parts = rest.split(separator: UInt8(ascii: "_"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].elementsEqual(prefix.utf8) else { throw Self.refused }
    guard let id = ID<APIKeyRecord>(checking: String(Substring(parts[1]))) else { throw Self.refused }
    return (id, String(Substring(parts[2])))
  }

  private func verified(
    _ parts: (id: ID<APIKeyRecord>, secret: String), _ scope: Scope
  ) async throws -> APIKeyRecord {
    let found = try await context.storage.apiKey(parts.id)
    // An unknown key costs the same comparison, in constant time.
    let digest = found?.secretDigest ?? [UInt8](repeating: 0, count: 32)
    guard constantTimeEqual(digest, Self.digest(parts.secret)), let key = found, key.revoked == nil else {
      throw Self.refused
    }
    guard key.scopes.contains(scope.rawValue) else {
      throw Problem(.forbidden, "The API key lacks the scope \"\(scope.rawValue)\".")
    }
    return key
  }

  static let refused = Problem(
    .unauthorized, "Send \"Authorization: Bearer\" and an API key that is not revoked.")

  private static func digest(_ secret: String) -> [UInt8] {
    HashFunction.sha256.digest(of: Array(secret.utf8))
  }
}

extension APIKeyRecord {
  package var actor: AuditActor { .key(id) }
}
