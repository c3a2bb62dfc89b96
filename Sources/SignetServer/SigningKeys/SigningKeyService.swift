package import SignetCrypto
package import SignetProtocol
package import SignetStorage
import SignetSystem

/// The server's own signing keys, for lists of transactions, offline transactions and ID tokens.
///
/// Any process creates the first key when it is first needed. The keys are in the database, encrypted under the master key.
package struct SigningKeyService: Sendable {
  private let context: ServiceContext

  /// Creates the service of a context.
  package init(_ context: ServiceContext) { self.context = context }

  /// Returns the current signing key, and creates it if there is none.
  ///
  /// - Throws: ``Problem``.
  package func current() async throws -> P256.Signing.PrivateKey {
    try open(await present())
  }

  /// Returns the public key of the current signing key.
  ///
  /// - Throws: ``Problem``.
  package func currentPublicKey() async throws -> P256.Signing.PublicKey {
    try publicKey(of: await present())
  }

  /// Returns all public keys, including retired ones, so that their signatures can still be verified.
  ///
  /// A key whose row was altered is left out: its signatures no longer verify, and devices ignore its successions.
  ///
  /// - Throws: ``Problem``.
  package func published() async throws -> ServerKeySet {
    var records = try await self.records().all.filter { !$0.isAltered }
    // Creates the first key if there is none, since clients would trust and cache an empty list.
    if records.isEmpty { records = [try await present()] }
    var keys: [P256.Signing.PublicKey] = []
    for record in records { keys.append(try publicKey(of: record)) }
    return ServerKeySet(keys: keys, successions: records.compactMap(\.succession))
  }

  /// Returns all keys, also those with altered rows, which it logs.
  ///
  /// It also logs if the key that signs was removed.
  ///
  /// - Throws: ``Problem``.
  package func records() async throws -> SigningKeyRecords {
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
    "find out who can write to the database; if the server no longer signs, restore a backup that has the key (signet-server restore), or create another key (signet-server signing-key rotate): devices that know no other key must be renewed then (signet renew)"

  /// Creates a new signing key; the previous one signs the succession that devices follow.
  ///
  /// A previous key whose row was altered signs nothing; devices then learn the new key by a renewal.
  ///
  /// - Parameter actor: The caller's name in the audit log.
  /// - Returns: The new key.
  /// - Throws: ``Problem``.
  package func rotate(by actor: AuditActor) async throws -> SigningKeyRecord {
    let keys = try await records()
    let predecessor: SigningKeyRecord? =
      try await keys.isNew ? present() : keys.replaceable
    let added = try await add(after: predecessor, by: actor)
    guard let added else {
      throw Problem(.busy, "Another key was created at the same time; list the keys before you try again.")
    }
    return added
  }

  private func present() async throws -> SigningKeyRecord {
    if let found = try await storedKey() { return found }
    // Another process may have added its key first; then that key is used.
    if let added = try await add(after: nil, by: .server) { return added }
    guard let found = try await storedKey() else {
      throw Problem(.serverFailure, "See the server's log.")
    }
    return found
  }

  /// Returns the current signing key; `nil` if there is none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if its row may have been altered or removed. An operator must then create
  ///   another one, since devices would not follow an automatic one.
  private func storedKey() async throws -> SigningKeyRecord? {
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
      let succession = KeySuccession(server: context.settings.serverURL, next: key.publicKey, time: now)
      let presentKey = try open(present)
      record.succession = try succession.signed(by: presentKey)
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
