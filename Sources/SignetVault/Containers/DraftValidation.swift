import SignetCrypto
import SignetPolicy

extension ContainerDraft {
  /// Rejects a draft with invalid names, sizes or policies.
  func validate() throws(VaultFailure) {
    try attributes.validate()
    guard !domains.isEmpty else {
      throw .invalidDraft(reason: "a container needs a domain; name at least one")
    }
    try DomainID.requireDistinctNames(domains.map(\.name))
    for domain in domains { try domain.validate() }
  }
}

extension DomainID {
  /// Rejects an invalid name, and a duplicate.
  fileprivate static func requireDistinctNames(_ names: [String]) throws(VaultFailure) {
    var uniqueNames: Set<String> = []
    for name in names {
      guard isName(name) else { throw .invalidName }
      guard uniqueNames.insert(name).inserted else { throw .duplicateName(name) }
    }
  }
}

extension ContainerAttributes {
  /// The maximum UTF-8 bytes of a text.
  static let maximumTextByteCount = 4096
  /// The maximum bytes of any other attribute.
  static let maximumByteCount = 1 << 20

  /// Rejects attributes that exceed the limits.
  func validate() throws(VaultFailure) {
    for (label, text) in [("user id", userID), ("server", server), ("name", name), ("server id", serverID)]
    where text.utf8.count > Self.maximumTextByteCount {
      throw .invalidDraft(
        reason: "the \(label) has \(text.utf8.count) bytes; use at most \(Self.maximumTextByteCount)")
    }
    guard connection.pins.allSatisfy({ $0.count == 32 }) else {
      throw .invalidDraft(reason: "a pin has not 32 bytes; use the SHA-256 of a subject public key info")
    }
    let sizes = [
      connection.pins.count * 32, connection.certificateAuthoritiesPEM?.utf8.count ?? 0,
      protocolParameters.count,
      extra.count,
    ]
    guard sizes.allSatisfy({ $0 <= Self.maximumByteCount }) else {
      throw .invalidDraft(reason: "an attribute is above 1 MiB; store it elsewhere")
    }
  }
}

extension DomainDraft {
  /// Rejects a domain with invalid names or an invalid policy.
  func validate() throws(VaultFailure) {
    try DomainID.requireDistinctNames([name])
    try DomainID.requireDistinctNames(records.map(\.name))
    if case .password(_, let lock) = protection { try validate(lock) }
  }

  /// Rejects a lock policy that cannot be enforced, and secrets that a silent lock cannot hide.
  private func validate(_ lock: LockPolicy) throws(VaultFailure) {
    if case .lock(let limit, _) = lock, !LockPolicy.allowedLimits.contains(limit) {
      throw .lockLimitOutOfRange(limit)
    }
    do { try lock.validate() } catch { throw .invalidDraft(reason: error.description) }
    guard lock == .silent else { return }
    for record in records {
      let count = record.secret.withSecret { $0.byteCount }
      let isKey = record.form == .p256PrivateKey
      guard isKey ? count == 32 : (1...SilentSealing.maximumByteCount).contains(count) else {
        throw .invalidDraft(
          reason:
            "a silent domain keeps uniform bytes, 1 to \(SilentSealing.maximumByteCount), and P-256 keys")
      }
    }
  }
}
