import SignetJSON
import SignetServer

extension NamedRequirements {
  /// The operator's named requirements in `server.json`.
  static let shape = Shape<[String: AuthenticationRequirement]>.map(
    to: AuthenticationRequirement.schema.shape, upTo: limit
  ) { name in
    guard mayBeName(name) else {
      return "is not a name: 1 to \(longestName) visible ASCII characters without quotes and backslashes"
    }
    let isBuiltIn = builtInNames.contains(name) || name.hasPrefix(prefix)
    return isBuiltIn ? "is built in; choose another name" : nil
  }
}

extension AuthenticationRequirement {
  fileprivate static let schema = SettingsSchema(
    absent: AuthenticationRequirement(),
    settings: [
      Setting("factors", \.factors, .integer(1...3), "the minimum number of factors"),
      Setting(
        "userVerification", \.needsUserVerification, Bool.shape,
        "whether the authenticator must verify its user"),
      Setting(
        "phishingResistance", \.needsPhishingResistance, Bool.shape,
        "whether the answer must resist phishing; approvals by CIBA do not"),
      Setting(
        "keyProtection", \.keyProtection,
        .demand,
        "where the key must be stored: `hardwareClaimed` accepts the device's claim of hardware, `hardwareAttested` only certificates"
      ),
      Setting(
        "contentSigned", \.needsSignedContent, Bool.shape,
        "whether the content that the user was shown must be signed"),
      Setting(
        optional: "reportAge", \.longestReportAge, .seconds(reportAges),
        "the maximum age of the device's last [report](protocol.md#142-report) at the answer; the report is the device's own claim. A container with an older report sends a new one by itself; UAF keys and authenticator apps send none",
        default: "no report is needed"),
      Setting(
        "numberDigits", \.numberDigits, .integer(2...6),
        "the minimum number of digits of a number that the relying party shows and the user types: a transaction with this requirement has such a number, which the answer to its creation contains. A container has three tries, so four digits are guessed once in 3,333 times. UAF keys sign no number, and the numbers of an authenticator app, three or ten of which one is chosen once, do not count",
        default: "no number is needed"),
      Setting(
        "kinds", \.kinds, .set(of: AuthenticationEvidence.Kind.shape),
        "the kinds of authenticators that may answer", default: "all"),
    ],
    check: { requirement, member in
      guard requirement != AuthenticationRequirement() else {
        throw ServerConfigurationFile.Refusal.reason(
          "\"\(member)\" requires nothing; add a requirement, such as \"factors\": 2, or remove it")
      }
    })
}

extension AuthenticationEvidence.Kind: Shaped {}

extension Shape<KeyAssurance> {
  /// The minimum key protection; `any` stands for no requirement.
  fileprivate static let demand: Shape = {
    let names = Shape<String>.oneOf(["any"] + KeyAssurance.allCases.dropFirst().map(\.rawValue))
    return Shape(schema: names.schema) {
      KeyAssurance(rawValue: try names.read($0, $1)) ?? .software
    } write: {
      .string($0 == .software ? "any" : $0.rawValue)
    }
  }()
}
