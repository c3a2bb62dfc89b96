import SignetJSON

/// The account policies that can be evaluated, in the order in which they are.
///
/// It begins with those that are built in. Others are added behind them; one of the same name takes the place of another only
/// where that is said.
public struct AccountPolicyRegistry: Sendable {
  /// The policies that are built in, in their order.
  public static let builtIn: [any AccountPolicy] = [
    DeviceFactPolicy.biometricAvailable, DeviceTamperingPolicy(), AppIsUpToDatePolicy(), OSVersionPolicy(),
    DeviceFactPolicy.screenLock, HardwareKeystorePolicy(), InactivityPolicy(), OfflinePeriodPolicy(),
  ]

  /// All of them, in the order in which they are evaluated.
  public private(set) var policies: [any AccountPolicy]

  /// Those that are built in.
  public init() { policies = Self.builtIn }

  /// These and no others, not even those that are built in.
  ///
  /// - Parameter policies: In the order in which they are evaluated.
  /// - Throws: ``AccountPolicyFailure``: `invalidName`, `alreadyRegistered`.
  public init(only policies: [any AccountPolicy]) throws(AccountPolicyFailure) {
    self.policies = []
    for policy in policies { try register(policy) }
  }

  /// Adds a policy at the end.
  ///
  /// - Parameter policy: One whose name none of these has.
  /// - Throws: ``AccountPolicyFailure``: `invalidName`, `alreadyRegistered`.
  public mutating func register(_ policy: any AccountPolicy) throws(AccountPolicyFailure) {
    guard AccountPolicySet.isName(policy.name) else { throw .invalidName(policy.name) }
    guard self[policy.name] == nil else { throw .alreadyRegistered(policy.name) }
    policies.append(policy)
  }

  /// Puts a policy in the place of the one that has its name.
  ///
  /// - Parameter policy: The other one.
  /// - Throws: ``AccountPolicyFailure/notRegistered(_:)``.
  public mutating func replace(with policy: any AccountPolicy) throws(AccountPolicyFailure) {
    guard let index = policies.firstIndex(where: { $0.name.utf8.elementsEqual(policy.name.utf8) }) else {
      throw .notRegistered(policy.name)
    }
    policies[index] = policy
  }

  /// The policy of a name.
  public subscript(name: String) -> (any AccountPolicy)? {
    policies.first { $0.name.utf8.elementsEqual(name.utf8) }
  }

  /// Finds out whether an account's policies can be evaluated.
  ///
  /// - Parameter set: The account's policies.
  /// - Returns: The names among them that are not known here. They are not evaluated: report them.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``, of the first that is at fault.
  @discardableResult
  public func check(_ set: AccountPolicySet) throws(AccountPolicyFailure) -> [String] {
    for policy in policies {
      if let parameters = set[policy.name] { try policy.check(parameters) }
    }
    return unknown(in: set)
  }

  /// The parameters of an account's policies that these do not know, and so ignore.
  ///
  /// - Parameter set: The account's policies.
  /// - Returns: Those of the policies that are built in; an app's own policies say nothing of theirs.
  package func unknownParameters(in set: AccountPolicySet) -> [UnknownParameter] {
    policies.flatMap { policy -> [UnknownParameter] in
      guard let policy = policy as? any ImmediateAccountPolicy,
        case .object(let object)? = set.json[policy.name]
      else { return [] }
      return policy.unknownParameters(object)
    }
  }

  func unknown(in set: AccountPolicySet) -> [String] { set.names.filter { self[$0] == nil } }
}
