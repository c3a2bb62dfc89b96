public import SignetJSON
import SignetSystem

/// The results of an evaluation of an account's policies.
public struct AccountPolicyReport: Sendable, Hashable {
  /// The result of one policy.
  public struct Result: Sendable, Hashable {
    /// The policy's name.
    public let policy: String
    /// The policy's verdict.
    public let verdict: AccountPolicyVerdict
    /// The reaction if the verdict is indeterminate.
    public let whenIndeterminate: IndeterminateReaction
  }

  /// The results, in the order of evaluation.
  public let results: [Result]
  /// The account's policies that are not registered here and were not evaluated.
  public let unknown: [String]

  init(results: [Result], unknown: [String]) { (self.results, self.unknown) = (results, unknown) }

  /// All policies that lock the account, in the order of evaluation.
  ///
  /// These are the broken policies, and those without a result whose reaction is ``IndeterminateReaction/lock``.
  public var breaches: [AccountPolicyBreach] {
    results.compactMap { result in
      switch result.verdict {
      case .compliant: nil
      case .breached(let reason, let evidence):
        AccountPolicyBreach(policy: result.policy, reason: reason, evidence: evidence)
      case .indeterminate(let reason):
        result.whenIndeterminate == .lock
          ? AccountPolicyBreach(policy: result.policy, reason: reason, evidence: ["indeterminate": true])
          : nil
      }
    }
  }

  /// The policies that have no result.
  public var indeterminate: [String] {
    results.compactMap {
      if case .indeterminate = $0.verdict { return $0.policy }
      return nil
    }
  }

  /// True if no policy locks the account.
  public var isCompliant: Bool { breaches.isEmpty }

  /// The first policy that locks the account.
  public var lockingPolicy: String? { breaches.first?.policy }
}

/// A broken policy and its evidence.
public struct AccountPolicyBreach: Sendable, Hashable, CustomStringConvertible {
  /// The policy's name.
  public let policy: String
  /// The reason, at most 400 characters.
  public let reason: String
  /// The facts that show the breach: at most 2,048 bytes as JSON.
  public let evidence: JSONObject

  /// Creates a breach; a reason that is too long is cut.
  ///
  /// Evidence that is too long, or has a number that JSON cannot write, is replaced by `{"omitted": true}`.
  public init(policy: String, reason: String, evidence: JSONObject = [:]) {
    self.policy = policy
    // An app's own policy can return any text, and a terminal or a log shows it: remove invisible characters.
    self.reason = String(
      String.UnicodeScalarView(
        reason.unicodeScalars.prefix(400).map { $0.isInvisible ? " " : $0 }))
    let isIncluded = Self.isFinite(.object(evidence)) && evidence.bytes.count <= 2_048
    self.evidence = isIncluded ? evidence : ["omitted": true]
  }

  /// True if JSON can write the value: JSON has no infinity and no NaN, but an app's own policy may compute them.
  private static func isFinite(_ value: JSONValue) -> Bool {
    switch value {
    case .number(let number): number.isFinite
    case .array(let values): values.allSatisfy(isFinite)
    case .object(let object): object.members.allSatisfy { isFinite($0.value) }
    default: true
    }
  }

  /// The policy's name and the reason.
  public var description: String { "\(policy): \(reason)" }
}

extension AccountPolicyBreach {
  /// The JSON form.
  public var json: JSONObject {
    ["policy": .string(policy), "reason": .string(reason), "evidence": .object(evidence)]
  }

  /// Reads the JSON form.
  ///
  /// - Throws: ``JSONFailure``.
  public init(_ object: JSONObject) throws(JSONFailure) {
    self.init(
      policy: try object.string("policy"), reason: try object.string("reason"),
      evidence: try object.optionalObject("evidence") ?? [:])
  }
}
