public import SignetCrypto
public import SignetStorage
public import SignetWire

/// The keys that the server itself signs with: lists of transactions, offline transactions, ID tokens.
///
/// The first one is made when it is needed first, by whatever process; they are in the database, under the master key.
public struct SigningKeyService: Sendable {
  private let context: ServiceContext

  /// A service over a context.
  public init(_ context: ServiceContext) { self.context = context }

  /// The key that signs now; made where there is none.
  ///
  /// - Throws: ``Problem``.
  public func current() async throws -> P256.Signing.PrivateKey {
    try open(await present())
  }

  /// The public half of the key that signs now.
  ///
  /// - Throws: ``Problem``.
  public func currentPublicKey() async throws -> P256.Signing.PublicKey {
    try publicKey(of: await present())
  }

  /// All keys, as they are published: retired ones too, so that what they signed can still be verified.
  ///
  /// - Throws: ``Problem``.
  public func published() async throws -> ServerKeySet {
    _ = try await present()
    let records = try await all()
    var keys: [P256.Signing.PublicKey] = []
    for record in records { keys.append(try publicKey(of: record)) }
    return ServerKeySet(keys: keys, successions: records.compactMap(\.succession))
  }

  /// All keys, oldest first; the last one signs.
  ///
  /// - Throws: ``Problem``.
  public func all() async throws -> [SigningKeyRecord] {
    try await context.storage.signingKeys()
  }

  /// Makes another key, which signs from now on; devices follow the word of the one before.
  ///
  /// - Parameter actor: Who asks, for the audit log.
  /// - Returns: The new key.
  /// - Throws: ``Problem``.
  public func rotate(by actor: AuditActor) async throws -> SigningKeyRecord {
    let present = try await present()
    let made = try await add(after: present, by: actor)
    guard let made else { throw Problem(.busy, "Another key was made at the same time; look at them.") }
    return made
  }

  private func present() async throws -> SigningKeyRecord {
    if let found = try await all().last { return found }
    // Another process may be first: then its key is the one.
    if let made = try await add(after: nil, by: .server) { return made }
    guard let found = try await all().last else {
      throw Problem(.serverFailure, "Nothing was changed; try again later.")
    }
    return found
  }

  private func add(
    after present: SigningKeyRecord?, by actor: AuditActor
  ) async throws -> SigningKeyRecord? {
    let key = P256.Signing.PrivateKey()
    let id = key.publicKey.thumbprint
    let now = context.clock.now
    let sealed = try context.masterKey.seal(key.rawRepresentation, for: .signingKey(id: id))
    var record = SigningKeyRecord(
      id: id, sealed: sealed, publicKey: key.publicKey.x963Representation, created: now)
    if let present {
      let word = KeySuccession(server: context.settings.serverURL, next: key.publicKey, time: now)
      let presentKey = try open(present)
      record.succession = try word.signed(by: presentKey)
    }
    let event = context.audit(by: actor)(.signingKeyAdded(key: id, after: present?.id))
    let isAdded = try await context.storage.addSigningKey(record, replacing: present?.id, audit: event)
    return isAdded ? record : nil
  }

  private func open(_ record: SigningKeyRecord) throws -> P256.Signing.PrivateKey {
    let opened = try context.masterKey.open(record.sealed, for: .signingKey(id: record.id))
    return try P256.Signing.PrivateKey(rawRepresentation: opened)
  }

  private func publicKey(of record: SigningKeyRecord) throws -> P256.Signing.PublicKey {
    try P256.Signing.PublicKey(x963: record.publicKey)
  }
}
