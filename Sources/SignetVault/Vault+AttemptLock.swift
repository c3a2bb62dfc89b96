import SignetPolicy

extension Vault {
  /// Runs `body` while no other process or task tries a password of this vault.
  ///
  /// An attempt is counted before it is made, so it looks like a failed one until its result is stored. Under the lock such
  /// an attempt is visible only if its process was killed. The guess limit does not depend on the lock; the count on the disk
  /// enforces it.
  ///
  /// - Precondition: Called neither under this lock nor in a transaction.
  /// - Throws: Any error of `body`; ``VaultFailure/busy`` if another holder took too long.
  func withAttemptLock<R>(_ body: () throws -> R) throws -> R {
    guard let lock = try FolderLock(attemptLockPath, .exclusive(within: settings.lockTimeout)) else {
      throw VaultFailure.busy
    }
    defer { lock.release() }
    return try body()
  }

  /// Reads a value, and reads it again under the attempt lock if an attempt without a result may have affected it.
  ///
  /// - Parameters:
  ///   - isPlain: Returns true if no such attempt can have affected the value.
  ///   - read: Reads the value.
  /// - Returns: The last value read.
  /// - Throws: Any error of `isPlain` and `read`; ``VaultFailure/busy``.
  func decided<R>(unless isPlain: (R) throws -> Bool, _ read: () throws -> R) throws -> R {
    let value = try read()
    return try isPlain(value) ? value : withAttemptLock(read)
  }
}

extension AttemptDecision {
  var isAllowed: Bool { if case .allowed = self { true } else { false } }
}
