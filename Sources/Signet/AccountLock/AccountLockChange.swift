public import SignetPolicy

/// A container of a server, or an imported account.
public enum AccountSubject: Sendable, Hashable {
  /// A container, by its ID on this device.
  case container(Container.ID)
  /// An account.
  case account(Account.ID)
}

/// A change of the lock of a container or an account.
public struct AccountLockChange: Sendable, Hashable {
  /// The container or account.
  public let subject: AccountSubject
  /// The lock after the change.
  public let lock: AccountLock
}
