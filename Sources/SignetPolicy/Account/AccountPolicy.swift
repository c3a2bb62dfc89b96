public import SignetJSON

/// A condition of the device that locks an account, or a container, when it is broken.
///
/// An app adds conditions of its own by conforming to this:
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
/// A policy holds no state of an account: what an account asks for comes as `parameters`, what the device is like as `evidence`.
/// One value serves all accounts, also at the same time.
public protocol AccountPolicy: Sendable {
  /// What names the policy in the JSON form: 1 to 64 visible ASCII characters, the same ones always.
  var name: String { get }

  /// What becomes of the account where this policy comes to no result; ``IndeterminateReaction/keep`` unless said otherwise.
  var whenIndeterminate: IndeterminateReaction { get }

  /// Finds out whether the policy can be evaluated with these parameters; accepts all unless said otherwise.
  ///
  /// It is called when an account is enrolled, so that a mistake is not found out years later.
  ///
  /// - Parameter parameters: What the account asks for.
  /// - Throws: ``AccountPolicyFailure/invalidParameter(policy:parameter:reason:)``.
  func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure)

  /// Decides. It may take its time, within that of ``AccountPolicyEvaluator``, and runs on no thread that others wait for.
  ///
  /// - Parameters:
  ///   - evidence: What is known of the device.
  ///   - parameters: What the account asks for; ``check(_:)`` may never have seen them.
  /// - Returns: The verdict.
  /// - Throws: Anything; it counts as ``AccountPolicyVerdict/indeterminate(reason:)``.
  func evaluate(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) async throws -> AccountPolicyVerdict
}

extension AccountPolicy {
  /// The account stays as it is.
  public var whenIndeterminate: IndeterminateReaction { .keep }

  /// Accepts all parameters.
  public func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {}
}

/// A policy that decides at once, from evidence and parameters alone.
package protocol ImmediateAccountPolicy: AccountPolicy {
  /// The names of its parameters; none unless said otherwise.
  var parameterNames: [String] { get }

  /// The parameters that it does not know.
  func unknownParameters(_ parameters: JSONObject) -> [UnknownParameter]

  /// Decides.
  ///
  /// - Throws: ``AccountPolicyFailure``, where the parameters are none of this policy.
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

/// What a policy says of a device.
public enum AccountPolicyVerdict: Sendable, Hashable {
  /// The condition holds.
  case compliant
  /// The condition is broken: why, in a sentence without a capital and a full stop, and the facts that show it.
  case breached(reason: String, evidence: JSONObject = [:])
  /// Nobody can tell, and why.
  case indeterminate(reason: String)
}

/// What becomes of an account where a policy comes to no result.
public enum IndeterminateReaction: String, Sendable, Hashable, CaseIterable {
  /// The account stays as it is: locked by this policy where it was, open where it was not.
  case keep
  /// The account is locked.
  case lock
}
