/// A requirement for the evidence of a user's answer.
package struct AuthenticationRequirement: Hashable, Sendable {
  /// The allowed limits for the age of a report, in seconds: up to a year.
  package static let reportAges: ClosedRange<Int64> = 30...31_536_000

  package var factors = 1
  /// True if the authenticator must verify its user.
  package var needsUserVerification = false
  /// True if the answer must resist phishing.
  package var needsPhishingResistance = false
  /// The weakest accepted protection of the key.
  package var keyProtection = KeyAssurance.software
  /// True if the shown content must be signed.
  package var needsSignedContent = false
  /// The greatest age of the device's last report, in seconds; `nil` if no report is needed.
  package var longestReportAge: Int64?
  /// The smallest number of digits of the number that the requester shows and the user types; 0 if none is needed.
  ///
  /// The server then creates a number for the transaction. Selecting a number in an app, from at most ten, does not count.
  package var numberDigits = 0
  /// The kinds of authenticators that may answer; empty for all.
  package var kinds: Set<AuthenticationEvidence.Kind> = []

  package init() {}

  package enum Demand: Hashable, Sendable, CustomStringConvertible {
    case factors(Int)
    case userVerification
    case phishingResistance
    case keyProtection(KeyAssurance)
    case signedContent
    case report(longestAge: Int64)
    case number(digits: Int)
    case kinds(Set<AuthenticationEvidence.Kind>)

    /// The demand as text: ASCII without quotes.
    package var description: String {
      switch self {
      case .factors(let count): "\(count) factors"
      case .userVerification: "user verification"
      case .phishingResistance: "phishing resistance"
      case .keyProtection(.hardwareAttested): "a key in attested hardware"
      case .keyProtection: "a key in hardware"
      case .signedContent: "signed content"
      case .report(let age): "a report of the device that is at most \(age) s old"
      case .number(let digits): "a number of \(digits) digits that the user types"
      case .kinds(let kinds):
        "an authenticator of kind \(kinds.map(\.rawValue).sorted().joined(separator: " or "))"
      }
    }
  }

  /// Returns the demands that the evidence does not meet, in a fixed order; none if the requirement is met.
  package func unmet(by evidence: AuthenticationEvidence) -> [Demand] {
    var unmet: [Demand] = []
    if !kinds.isEmpty, !kinds.contains(evidence.kind) { unmet.append(.kinds(kinds)) }
    if evidence.factors < factors { unmet.append(.factors(factors)) }
    if needsUserVerification, !evidence.isUserVerified { unmet.append(.userVerification) }
    if needsPhishingResistance, !evidence.isPhishingResistant { unmet.append(.phishingResistance) }
    if evidence.keyProtection < keyProtection { unmet.append(.keyProtection(keyProtection)) }
    if needsSignedContent, !evidence.isContentSigned { unmet.append(.signedContent) }
    if let longestReportAge, evidence.reportAge.map({ $0 > longestReportAge }) ?? true {
      unmet.append(.report(longestAge: longestReportAge))
    }
    if evidence.numberDigits < numberDigits { unmet.append(.number(digits: numberDigits)) }
    return unmet
  }
}
