import SignetJSON
import SignetServer

extension NamedRequirements {
  /// The operator's named requirements in `server.json`.
  static let shape = Shape<[String: AuthenticationRequirement]>.map(
    to: AuthenticationRequirement.schema.shape, upTo: limit
  ) { name in
    guard mayBeName(name) else {
      return "is no name: 1 to \(longestName) visible ASCII characters without quotes and backslashes"
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
        "whether the authenticator has to verify its user"),
      Setting(
        "phishingResistance", \.needsPhishingResistance, Bool.shape,
        "whether the answer has to resist phishing; approvals by CIBA do not"),
      Setting(
        "keyProtection", \.keyProtection,
        .demand,
        "where the key has to lie: `hardwareClaimed` takes the device's word for hardware, `hardwareAttested` certificates alone"
      ),
      Setting(
        "contentSigned", \.needsSignedContent, Bool.shape, "whether what the user was shown has to be signed"),
      Setting(
        optional: "reportAge", \.longestReportAge, .seconds(reportAges),
        "how old the last report of the device may be at the answer: the [report](protocol.md#142-report) is the device's own word. A container whose report is older reports by itself; UAF keys and authenticator apps have none",
        default: "no report is needed"),
      Setting(
        "numberDigits", \.numberDigits, .integer(2...6),
        "the fewest digits of a number that the relying party shows and the user types: what names it has one, and the answer to its creation says it. Of a container three tries are taken, so four digits are right by chance once in 3,333 times. UAF keys sign no number, and the numbers of an authenticator app, three or ten of which one is chosen once, do not count",
        default: "no number is needed"),
      Setting(
        "kinds", \.kinds, .set(of: AuthenticationEvidence.Kind.shape),
        "the kinds of authenticators that may answer", default: "all"),
    ],
    check: { requirement, member in
      guard requirement != AuthenticationRequirement() else {
        throw ServerConfigurationFile.Refusal.reason(
          "\"\(member)\" demands nothing; say what it demands, such as \"factors\": 2, or remove it")
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
