import SignetSQL

extension Storage {
  /// What is bound to a user's account: the one place that reads authenticators of all kinds.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - codeAttempts: How many wrong codes in a row lock a token.
  /// - Returns: Devices and authenticators, the oldest first.
  /// - Throws: ``StorageFailure``.
  public func holdings(
    of user: UserID, codeAttempts: Int
  ) async throws(StorageFailure) -> AccountHoldings {
    try await read { database in
      let devices = try database.devices(user: user)
      let account = AccountReading(user: user, devices: devices, codeAttempts: codeAttempts)
      let found = try AuthenticatorRecord.Kind.tables.flatMap {
        try $0.authenticators(of: account, in: database)
      }
      return AccountHoldings(devices: devices, authenticators: found.sorted { $0.created < $1.created })
    }
  }
}
