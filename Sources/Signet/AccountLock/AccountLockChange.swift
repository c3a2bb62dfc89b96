public import SignetPolicy

/// A container of a server, or an account that was imported.
public enum AccountSubject: Sendable, Hashable {
  /// A container, by its name on this device.
  case container(Container.ID)
  /// An account.
  case account(Account.ID)
}

/// That something else locks a container or an account than before.
public struct AccountLockChange: Sendable, Hashable {
  /// What it is about.
  public let subject: AccountSubject
  /// What locks it now.
  public let lock: AccountLock
}
