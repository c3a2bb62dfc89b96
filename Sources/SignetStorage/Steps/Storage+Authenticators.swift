import SignetSQL

extension Storage {
  /// Returns everything that is bound to a user's account: the only step that reads authenticators of all kinds.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - codeAttempts: The number of consecutive wrong codes that locks a token.
  /// - Returns: Devices and authenticators, oldest first.
  /// - Throws: ``StorageFailure``.
  public func holdings(
    of user: UserID, codeAttempts: Int
  ) async throws(StorageFailure) -> AccountHoldings {
    try await read { database in
      let devices = try database.devices(user: user)
      let account = AccountSnapshot(user: user, devices: devices, codeAttempts: codeAttempts)
      let found = try AuthenticatorRecord.Kind.tables.flatMap {
        try $0.authenticators(of: account, in: database)
      }
      return AccountHoldings(devices: devices, authenticators: found.sorted { $0.created < $1.created })
    }
  }
}
