// The limit on UAF targets, and changes of a target.

extension UAFTargetRecord {
  /// Returns `true` if a user may have one more target.
  package static func hasRoom(beside count: Int64, limit: Int) -> Bool { count < limit }
}

extension UAFTargetChange {
  /// Indicates whether it only removes the address, which a suspension or a lock does not prevent.
  package var onlyRemovesAddress: Bool { self == Self(sealedTarget: []) }

  /// Returns the dispatcher's address after the change; `nil` if the change removes it.
  package func address(after present: [UInt8]?) -> [UInt8]? {
    guard let sealedTarget else { return present }
    return sealedTarget.isEmpty ? nil : sealedTarget
  }
}
