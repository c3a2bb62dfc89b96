import SignetPolicy

extension ContainerDraft {
  /// Refuses what could not be stored or found again.
  func validate() throws(VaultFailure) {
    try attributes.validate()
    guard !domains.isEmpty else {
      throw .invalidDraft(reason: "a container needs a domain; name at least one")
    }
    try requireDistinctNames(domains.map(\.name))
    for domain in domains {
      try requireDistinctNames(domain.records.map(\.name))
      if case .password(_, let lock) = domain.protection {
        switch lock {
        case .none: break
        case .lock(let limit, .lockOut):
          guard LockPolicy.allowedLimits.contains(limit) else { throw .lockLimitOutOfRange(limit) }
        default:
          throw .invalidDraft(
            reason: "the vault cannot keep the lock policy “\(lock.typeName)”; use a lock or none")
        }
      }
    }
  }

  private func requireDistinctNames(_ names: [String]) throws(VaultFailure) {
    var seen: Set<String> = []
    for name in names {
      guard DomainPlace.isName(name) else { throw .invalidName }
      guard seen.insert(name).inserted else { throw .duplicateName(name) }
    }
  }
}

extension ContainerAttributes {
  /// The most UTF-8 bytes of a text.
  static let maximumTextByteCount = 4096
  /// The most bytes of everything else.
  static let maximumByteCount = 1 << 20

  /// Refuses what is out of bounds.
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
      connection.pins.count * 32, connection.certificateAuthoritiesPEM?.utf8.count ?? 0, protocolFacts.count,
      extra.count,
    ]
    guard sizes.allSatisfy({ $0 <= Self.maximumByteCount }) else {
      throw .invalidDraft(reason: "an attribute is above 1 MiB; store it elsewhere")
    }
  }
}
