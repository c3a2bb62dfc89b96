import SignetJSON
import SignetSystem

/// The account policies that can be evaluated, in the order of evaluation.
///
/// The built-in policies come first and added ones follow. Only ``replace(with:)`` overwrites a policy of the same name.
public struct AccountPolicyRegistry: Sendable {
  /// The built-in policies, in their order.
  public static let builtIn: [any AccountPolicy] = [
    DevicePropertyPolicy.biometricAvailable, DeviceTamperingPolicy(), AppIsUpToDatePolicy(),
    OSVersionPolicy(),
    DevicePropertyPolicy.screenLock, HardwareKeystorePolicy(), InactivityPolicy(), OfflinePeriodPolicy(),
  ]

  /// All registered policies, in the order of evaluation.
  public private(set) var policies: [any AccountPolicy]

  /// Creates a registry of the built-in policies.
  public init() { policies = Self.builtIn }

  /// Creates a registry of these policies only, without the built-in ones.
  ///
  /// - Parameter policies: The policies, in the order of evaluation.
  /// - Throws: ``AccountPolicyFailure``: `invalidName`, `alreadyRegistered`.
  public init(only policies: [any AccountPolicy]) throws(AccountPolicyFailure) {
    self.policies = []
    for policy in policies { try register(policy) }
  }

  /// Adds a policy at the end.
  ///
  /// - Parameter policy: A policy whose name is not registered.
  /// - Throws: ``AccountPolicyFailure``: `invalidName`, `alreadyRegistered`.
  public mutating func register(_ policy: any AccountPolicy) throws(AccountPolicyFailure) {
    guard AccountPolicySet.isName(policy.name) else { throw .invalidName(policy.name) }
    guard self[policy.name] == nil else { throw .alreadyRegistered(policy.name) }
    policies.append(policy)
  }

  /// Replaces the policy of the same name; its position stays.
  ///
  /// - Parameter policy: The new policy.
  /// - Throws: ``AccountPolicyFailure/notRegistered(_:)``.
  public mutating func replace(with policy: any AccountPolicy) throws(AccountPolicyFailure) {
    guard let index = policies.firstIndex(where: { $0.name.hasSameBytes(as: policy.name) }) else {
      throw .notRegistered(policy.name)
    }
    policies[index] = policy
  }

  /// The policy with this name.
  public subscript(name: String) -> (any AccountPolicy)? {
    policies.first { $0.name.hasSameBytes(as: name) }
  }

  /// Validates an account's policies.
  ///
  /// - Parameter set: The account's policies.
  /// - Returns: The names that are not registered here. They are not evaluated: report them.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)`` for the first invalid parameter.
  @discardableResult
  public func check(_ set: AccountPolicySet) throws(AccountPolicyFailure) -> [String] {
    for policy in policies {
      if let parameters = set[policy.name] { try policy.check(parameters) }
    }
    return unknown(in: set)
  }

  /// Returns the parameters that the built-in policies do not know and therefore ignore.
  ///
  /// - Parameter set: The account's policies.
  /// - Returns: Unknown parameters of built-in policies; an app's own policies do not list theirs.
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
