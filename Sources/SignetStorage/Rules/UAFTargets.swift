// How many targets of UAF tokens a user has, and what changes one.

extension UAFTargetRecord {
  /// Whether a user may have one more.
  package static func hasRoom(beside count: Int64, limit: Int) -> Bool { count < limit }
}

extension UAFTargetChange {
  /// Whether it takes the address away and does nothing else, which neither a suspension nor a lock stands in the way of.
  package var onlyTakesAway: Bool { self == Self(sealedTarget: []) }

  /// What the way of sending knows the device by after it; `nil` where the change takes that away.
  package func address(after present: [UInt8]?) -> [UInt8]? {
    guard let sealedTarget else { return present }
    return sealedTarget.isEmpty ? nil : sealedTarget
  }
}
