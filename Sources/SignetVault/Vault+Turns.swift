import SignetPolicy

extension Vault {
  /// Runs `body` while nobody else tries a password of this vault, in whatever process.
  ///
  /// An attempt is counted before it is made, so it looks like a failed one until its result is stored. In its turn nobody sees such an
  /// attempt, unless the process that made it was killed. The turn protects no guess; the count on the disk does.
  ///
  /// - Precondition: Called neither in another turn nor in a transaction.
  /// - Throws: What `body` throws; ``VaultFailure/busy`` where somebody else took too long.
  func inTurn<R>(_ body: () throws -> R) throws -> R {
    guard let turn = try FolderLock(attemptLockPath, .inTurn(within: settings.longestTurn)) else {
      throw VaultFailure.busy
    }
    defer { turn.release() }
    return try body()
  }

  /// Reads something, and reads it again in turn where an attempt without a result may have changed it.
  ///
  /// - Parameters:
  ///   - isPlain: Whether no such attempt can be in what was read.
  ///   - read: Reads it.
  /// - Returns: What was read last.
  /// - Throws: What `isPlain` and `read` throw; ``VaultFailure/busy``.
  func decided<R>(unless isPlain: (R) throws -> Bool, _ read: () throws -> R) throws -> R {
    let seen = try read()
    return try isPlain(seen) ? seen : inTurn(read)
  }
}

extension AttemptDecision {
  /// Whether the attempt may be made now.
  var isAllowed: Bool { if case .allowed = self { true } else { false } }
}
