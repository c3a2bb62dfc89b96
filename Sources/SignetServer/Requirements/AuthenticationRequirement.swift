/// What an answer of a user has to show.
package struct AuthenticationRequirement: Hashable, Sendable {
  /// The ages of reports that can be asked for, in seconds: up to a year.
  package static let reportAges: ClosedRange<Int64> = 30...31_536_000

  /// The minimum number of factors.
  package var factors = 1
  /// Whether the authenticator has to verify its user.
  package var needsUserVerification = false
  /// Whether the answer has to resist phishing.
  package var needsPhishingResistance = false
  /// The weakest protection of the key.
  package var keyProtection = KeyAssurance.software
  /// Whether what was shown has to be signed.
  package var needsSignedContent = false
  /// The greatest age of the device's last report, in seconds; `nil` where none is needed.
  package var longestReportAge: Int64?
  /// The fewest digits of the number that the requester shows and the user types; 0 where none is needed.
  ///
  /// It brings the number with it. Of the numbers that an app shows, ten at most, one is chosen, which is none.
  package var numberDigits = 0
  /// The kinds of authenticators that may answer; empty for all.
  package var kinds: Set<AuthenticationEvidence.Kind> = []

  /// Demands nothing but an answer.
  package init() {}

  /// One of the demands of a requirement, for people.
  package enum Demand: Hashable, Sendable, CustomStringConvertible {
    case factors(Int)
    case userVerification
    case phishingResistance
    case keyProtection(KeyAssurance)
    case signedContent
    case report(longestAge: Int64)
    case number(digits: Int)
    case kinds(Set<AuthenticationEvidence.Kind>)

    /// What is demanded, in ASCII without quotes.
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

  /// The demands that evidence does not meet, in a fixed order; none where the requirement is met.
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
