/// Follows the chains of an audit log, entry by entry, from the first of each to the last.
public struct AuditVerification: Sendable {
  /// A place in the log.
  public struct Place: Hashable, Sendable, Comparable {
    /// The chain.
    public var chain: Int64
    /// The number of the entry in it.
    public var number: Int64

    /// Names a place.
    public init(chain: Int64, number: Int64) {
      self.chain = chain
      self.number = number
    }

    /// Orders by chain, then by number.
    public static func < (left: Self, right: Self) -> Bool {
      (left.chain, left.number) < (right.chain, right.number)
    }
  }

  /// The good entries of each chain, up to the first break in it.
  private var chains: [Int64: AuditChain] = [:]
  private var breaks: [Int64: Place] = [:]
  private var keptHeads: [[UInt8]: Place?]

  /// Begins.
  ///
  /// - Parameter keptHeads: Hashes of heads that an earlier verification gave, kept where nobody who can change the log can change
  ///   them; 32 bytes each. Without one for a chain, entries missing at its end are not noticed.
  public init(keptHeads: [[UInt8]] = []) {
    self.keptHeads = Dictionary(keptHeads.map { ($0, nil) }, uniquingKeysWith: { first, _ in first })
    note(AuditChain())
  }

  /// Takes the next row of a chain; chains come one after the other, or mixed.
  ///
  /// - Parameter entry: The row; `nil` for one that no server wrote, which is in chain 0.
  public mutating func take(_ entry: AuditEntry?) {
    let number = entry?.chain ?? 0
    guard breaks[number] == nil else { return }
    var chain = chains[number] ?? AuditChain(number)
    guard let entry, chain.verify(entry) else {
      breaks[number] = Place(chain: number, number: chain.number + 1)
      return
    }
    chains[number] = chain
    note(chain)
  }

  private mutating func note(_ chain: AuditChain) {
    if keptHeads[chain.hash] == .some(nil) {
      keptHeads[chain.hash] = Place(chain: chain.chain, number: chain.number)
    }
  }

  /// What was found.
  public var report: AuditReport {
    let heads = chains.values.sorted { $0.chain < $1.chain }
    return AuditReport(
      heads: heads.isEmpty ? [AuditChain()] : heads,
      firstBreak: breaks.values.min(),
      keptHeads: keptHeads.values.compactMap { $0 }.sorted(),
      missingHeadCount: keptHeads.values.count { $0 == nil })
  }
}

/// What the verification of an audit log found.
public struct AuditReport: Hashable, Sendable {
  /// The last good entry of each chain, up to the first that is not good; an empty chain for an empty log.
  public var heads: [AuditChain]
  /// Where the first entry was changed, removed or inserted, in the chain of the smallest number; `nil` for none.
  public var firstBreak: AuditVerification.Place?
  /// Where the given hashes are, as chain and number.
  public var keptHeads: [AuditVerification.Place]
  /// How many of the given hashes no good entry has.
  public var missingHeadCount: Int

  /// How many entries are as they were written.
  public var count: Int64 { heads.reduce(0) { $0 + $1.number } }
  /// Whether nothing is wrong.
  public var isIntact: Bool { firstBreak == nil && missingHeadCount == 0 }
}
