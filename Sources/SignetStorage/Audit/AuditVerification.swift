/// A verification of the chains of an audit log, entry by entry, from the first of each to the last.
package struct AuditVerification: Sendable {
  /// A position in the log.
  package struct Position: Hashable, Sendable, Comparable {
    /// The chain.
    package var chain: Int64
    /// The number of the entry in it.
    package var number: Int64

    /// Creates a position.
    package init(chain: Int64, number: Int64) {
      self.chain = chain
      self.number = number
    }

    /// Orders by chain, then by number.
    package static func < (left: Self, right: Self) -> Bool {
      (left.chain, left.number) < (right.chain, right.number)
    }
  }

  /// The valid entries of each chain, up to its first break.
  private var chains: [Int64: AuditChain] = [:]
  private var breaks: [Int64: Position] = [:]
  private var expectedHeads: [[UInt8]: Position?]

  /// Begins a verification.
  ///
  /// - Parameter expectedHeads: Hashes of heads from an earlier verification, 32 bytes each, stored where an attacker who can
  ///   change the log cannot change them. Without one for a chain, entries that are missing at its end are not detected.
  package init(expectedHeads: [[UInt8]] = []) {
    self.expectedHeads = Dictionary(expectedHeads.map { ($0, nil) }, uniquingKeysWith: { first, _ in first })
    recordHead(AuditChain())
  }

  /// Verifies the next row of a chain; the chains may come one after the other or interleaved.
  ///
  /// - Parameter entry: The row; `nil` for a row that no server can have written, which counts for chain 0.
  package mutating func verify(_ entry: AuditEntry?) {
    let number = entry?.chain ?? 0
    guard breaks[number] == nil else { return }
    var chain = chains[number] ?? AuditChain(number)
    guard let entry, chain.verify(entry) else {
      breaks[number] = Position(chain: number, number: chain.number + 1)
      return
    }
    chains[number] = chain
    recordHead(chain)
  }

  private mutating func recordHead(_ chain: AuditChain) {
    if expectedHeads[chain.hash] == .some(nil) {
      expectedHeads[chain.hash] = Position(chain: chain.chain, number: chain.number)
    }
  }

  /// The result.
  package var report: AuditReport {
    let heads = chains.values.sorted { $0.chain < $1.chain }
    return AuditReport(
      heads: heads.isEmpty ? [AuditChain()] : heads,
      firstBreak: breaks.values.min(),
      expectedHeads: expectedHeads.values.compactMap { $0 }.sorted(),
      missingHeadCount: expectedHeads.values.count { $0 == nil })
  }
}

/// The result of the verification of an audit log.
package struct AuditReport: Hashable, Sendable {
  /// The last valid entry of each chain before its first break; one empty chain for an empty log.
  package var heads: [AuditChain]
  /// The position of the first changed, removed or inserted entry, in the chain with the smallest number; `nil` for none.
  package var firstBreak: AuditVerification.Position?
  /// The positions of the given hashes, as chain and number.
  package var expectedHeads: [AuditVerification.Position]
  /// The number of given hashes that no valid entry has.
  package var missingHeadCount: Int

  /// The number of valid entries.
  package var count: Int64 { heads.reduce(0) { $0 + $1.number } }
  /// Indicates whether the log is unchanged.
  package var isIntact: Bool { firstBreak == nil && missingHeadCount == 0 }
}
