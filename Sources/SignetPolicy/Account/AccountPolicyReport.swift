public import SignetJSON
import SignetText

/// What an evaluation of an account's policies came to.
public struct AccountPolicyReport: Sendable, Hashable {
  /// What one policy came to.
  public struct Result: Sendable, Hashable {
    /// The policy's name.
    public let policy: String
    /// What it says.
    public let verdict: AccountPolicyVerdict
    /// What becomes of the account where it says that nobody can tell.
    public let whenIndeterminate: IndeterminateReaction
  }

  /// What each policy came to, in the order of evaluation.
  public let results: [Result]
  /// The account's policies that are not known here, and so were not evaluated.
  public let unknown: [String]

  /// Names both.
  init(results: [Result], unknown: [String]) { (self.results, self.unknown) = (results, unknown) }

  /// All that lock the account, in the order of evaluation: those that are broken, and those that came to no result and lock then.
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

  /// The policies that came to no result.
  public var indeterminate: [String] {
    results.compactMap {
      if case .indeterminate = $0.verdict { return $0.policy }
      return nil
    }
  }

  /// Whether nothing locks the account.
  public var isCompliant: Bool { breaches.isEmpty }

  /// The first policy that locks the account.
  public var lockingPolicy: String? { breaches.first?.policy }
}

/// That a policy is broken, with what shows it.
public struct AccountPolicyBreach: Sendable, Hashable, CustomStringConvertible {
  /// The policy's name.
  public let policy: String
  /// Why, in a sentence of at most 400 characters.
  public let reason: String
  /// What shows it: at most 2,048 bytes as JSON.
  public let evidence: JSONObject

  /// Names all; what is too long is cut, and evidence that is too much, or no JSON, is left out.
  public init(policy: String, reason: String, evidence: JSONObject = [:]) {
    self.policy = policy
    // An app's own policy says what it likes; a terminal or a log shows it.
    self.reason = String(
      String.UnicodeScalarView(
        reason.unicodeScalars.prefix(400).map { $0.isInvisible ? " " : $0 }))
    let isKept = Self.isFinite(.object(evidence)) && evidence.bytes.count <= 2_048
    self.evidence = isKept ? evidence : ["omitted": true]
  }

  /// Whether JSON can write it: it has no way to say infinity or NaN, which an app's own policy may have computed.
  private static func isFinite(_ value: JSONValue) -> Bool {
    switch value {
    case .number(let number): number.isFinite
    case .array(let values): values.allSatisfy(isFinite)
    case .object(let object): object.members.allSatisfy { isFinite($0.value) }
    default: true
    }
  }

  /// The policy and the reason.
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
