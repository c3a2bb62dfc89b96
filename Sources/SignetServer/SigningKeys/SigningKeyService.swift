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
  /// One whose row was altered is left out: nothing that it signed is verified any more, and no device follows its word.
  ///
  /// - Throws: ``Problem``.
  public func published() async throws -> ServerKeySet {
    var records = try await self.records().all.filter { !$0.isAltered }
    // The first is made here too. No keys at all would be believed, and remembered.
    if records.isEmpty { records = [try await present()] }
    var keys: [P256.Signing.PublicKey] = []
    for record in records { keys.append(try publicKey(of: record)) }
    return ServerKeySet(keys: keys, successions: records.compactMap(\.succession))
  }

  /// All keys, also those whose rows were altered, which the log names.
  ///
  /// Where there are keys, or there were some, and none that signs, the log says so.
  ///
  /// - Throws: ``Problem``.
  public func records() async throws -> SigningKeyRecords {
    let keys = try await context.storage.signingKeys()
    for key in keys.all where key.isAltered {
      context.log.sampledError("signingKey.altered", ["key": key.id, "advice": Self.advice])
    }
    if keys.isPresentRemoved {
      context.log.sampledError("signingKey.removed", ["advice": Self.advice])
    }
    return keys
  }

  private static let advice =
    "find out who can write the database; where nothing is signed any more, restore a backup that has the key (signet-server restore), or make another (signet-server signing-key rotate): devices that know no other key have to be renewed then (signet renew)"

  /// Makes another key, which signs from now on; devices follow the word of the one before.
  ///
  /// One whose row was altered gives no word: devices learn the new key when they are renewed.
  ///
  /// - Parameter actor: Who asks, for the audit log.
  /// - Returns: The new key.
  /// - Throws: ``Problem``.
  public func rotate(by actor: AuditActor) async throws -> SigningKeyRecord {
    let keys = try await records()
    let before: SigningKeyRecord? =
      try await keys.isNew ? present() : keys.replaceable
    let made = try await add(after: before, by: actor)
    guard let made else { throw Problem(.busy, "Another key was made at the same time; look at them.") }
    return made
  }

  private func present() async throws -> SigningKeyRecord {
    if let found = try await known() { return found }
    // Another process may be first: then its key is the one.
    if let made = try await add(after: nil, by: .server) { return made }
    guard let found = try await known() else {
      throw Problem(.serverFailure, "Nothing was changed; try again later.")
    }
    return found
  }

  /// The key that signs; `nil` where there is none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` where it may be one whose row was altered, or was removed: an operator makes another
  ///   one then, since no device follows to it.
  private func known() async throws -> SigningKeyRecord? {
    let keys = try await records()
    if let present = keys.present { return present }
    if keys.isPresentRemoved { throw StorageFailure.altered(row: "the key that signs", of: "signing_keys") }
    return try keys.all.last(where: \.isAltered)?.checked()
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
    if let present, !present.isAltered {
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
