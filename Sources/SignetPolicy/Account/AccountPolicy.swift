public import SignetJSON

/// A condition of the device; if it is broken, it locks an account or a container.
///
/// An app adds its own conditions by conforming to this protocol:
///
/// ```swift
/// struct ManagedNetworkPolicy: AccountPolicy {
///   let name = "managedNetwork"
///   func evaluate(
///     _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
///   ) async throws -> AccountPolicyVerdict {
///     try await vpn.isUp() ? .compliant : .breached(reason: "the VPN is not up")
///   }
/// }
/// ```
///
/// A policy holds no state of an account: the account's settings arrive as `parameters`, the state of the device as
/// `evidence`. One value serves all accounts, also concurrently.
public protocol AccountPolicy: Sendable {
  /// The policy's name in the JSON form: 1 to 64 visible ASCII characters that never change.
  var name: String { get }

  /// The reaction if this policy has no result; ``IndeterminateReaction/keep`` by default.
  var whenIndeterminate: IndeterminateReaction { get }

  /// Validates the parameters; the default accepts all.
  ///
  /// It is called when an account is enrolled, so that an invalid policy is found then and not years later.
  ///
  /// - Parameter parameters: The account's parameters.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure)

  /// Evaluates the policy.
  ///
  /// It may suspend within the time limit of ``AccountPolicyEvaluator``, and does not block a thread that others wait for.
  ///
  /// - Parameters:
  ///   - evidence: The facts about the device.
  ///   - parameters: The account's parameters; ``check(_:)`` may not have validated them.
  /// - Returns: The verdict.
  /// - Throws: Any error; it counts as ``AccountPolicyVerdict/indeterminate(reason:)``.
  func evaluate(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) async throws -> AccountPolicyVerdict
}

extension AccountPolicy {
  /// The default: the account stays as it is.
  public var whenIndeterminate: IndeterminateReaction { .keep }

  /// The default: accepts all parameters.
  public func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {}
}

/// A policy that needs only evidence and parameters, and decides without suspending.
package protocol ImmediateAccountPolicy: AccountPolicy {
  /// The names of its parameters; none by default.
  var parameterNames: [String] { get }

  /// Returns the parameters that the policy does not know.
  func unknownParameters(_ parameters: JSONObject) -> [UnknownParameter]

  /// Evaluates the policy.
  ///
  /// - Throws: ``AccountPolicyFailure`` if the parameters are invalid.
  func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict
}

extension ImmediateAccountPolicy {
  package var parameterNames: [String] { [] }

  package func unknownParameters(_ parameters: JSONObject) -> [UnknownParameter] {
    UnknownParameter.all(in: parameters, of: name, known: parameterNames)
  }

  package func evaluate(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) async throws -> AccountPolicyVerdict { try verdict(evidence, parameters) }
}

/// The result of a policy for a device.
public enum AccountPolicyVerdict: Sendable, Hashable {
  /// The condition holds.
  case compliant
  /// The condition is broken: the reason, in lower case without a full stop, and the facts that show it.
  case breached(reason: String, evidence: JSONObject = [:])
  /// The policy has no result: the reason.
  case indeterminate(reason: String)
}

/// The effect on an account when a policy has no result.
public enum IndeterminateReaction: String, Sendable, Hashable, CaseIterable {
  /// The account stays as it is: locked if this policy had locked it, else open.
  case keep
  /// The account is locked.
  case lock
}
