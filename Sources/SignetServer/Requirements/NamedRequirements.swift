/// The requirements that can be asked for by name: those that are built in, and those of the operator.
package struct NamedRequirements: Hashable, Sendable {
  /// The longest name, in characters.
  package static let longestName = 128
  /// The most requirements of an operator.
  package static let limit = 64

  /// What names of this product begin with, which no operator gives.
  static let prefix = "urn:signet:"

  /// Phishing-resistant (OpenID Connect Extended Authentication Profile ACR Values 1.0 section 2).
  package static let phishingResistant = "phr"
  /// Phishing-resistant with a key in hardware that is attested (the same section).
  package static let hardwareProtected = "phrh"

  private static let builtIn: [(name: String, requirement: AuthenticationRequirement)] = {
    var (resistant, hardware) = (AuthenticationRequirement(), AuthenticationRequirement())
    resistant.needsPhishingResistance = true
    (hardware.needsPhishingResistance, hardware.keyProtection) = (true, .hardwareAttested)
    var (signed, uaf) = (AuthenticationRequirement(), AuthenticationRequirement())
    (signed.needsSignedContent, signed.kinds) = (true, [.container])
    uaf.kinds = [.uaf]
    return [
      (phishingResistant, resistant), (hardwareProtected, hardware), (OpenIDNames.signedACR, signed),
      (OpenIDNames.answeredACR, AuthenticationRequirement()), (UAFNames.acr, uaf),
    ]
  }()

  /// The names that are built in, and mean the same at every server.
  package static let builtInNames = builtIn.map(\.name)

  /// What is demanded where nothing is named: that what was shown is signed, so that the answer can be shown to others.
  private static let unnamed: AuthenticationRequirement = {
    var unnamed = AuthenticationRequirement()
    unnamed.needsSignedContent = true
    return unnamed
  }()

  /// The operator's own, by name.
  package var own: [String: AuthenticationRequirement] = [:]

  /// Those that are built in.
  package init() {}

  /// The requirement of a name; `nil` where there is none.
  package subscript(name: String) -> AuthenticationRequirement? {
    Self.builtIn.first { $0.name.utf8.elementsEqual(name.utf8) }?.requirement ?? own[name]
  }

  /// All names: those that are built in, then the operator's in order.
  package var names: [String] { Self.builtInNames + own.keys.sorted() }

  /// The first of some names whose requirement evidence meets; `nil` where it meets none.
  package func first(of names: [String], metBy evidence: AuthenticationEvidence) -> String? {
    names.first { self[$0]?.unmet(by: evidence).isEmpty ?? false }
  }

  /// Whether evidence meets one of some names, or what is demanded where there are none.
  package func isOneMet(of names: [String], by evidence: AuthenticationEvidence) -> Bool {
    names.isEmpty ? Self.unnamed.unmet(by: evidence).isEmpty : first(of: names, metBy: evidence) != nil
  }

  /// The digits of the number without which evidence meets none of some names; 0 where one of them needs none.
  package func numberDigits(of names: [String]) -> Int {
    names.compactMap { self[$0]?.numberDigits }.min() ?? 0
  }

  /// Whether evidence meets the requirements of all these names; one that is not known any more is met by nothing.
  package func areMet(_ names: [String], by evidence: AuthenticationEvidence) -> Bool {
    names.allSatisfy { self[$0]?.unmet(by: evidence).isEmpty ?? false }
  }

  /// What evidence lacks for each of some names, for people: `phrh needs phishing resistance and a key in attested hardware`.
  package func missing(for names: [String], in evidence: AuthenticationEvidence) -> String {
    names.map { name in
      guard let requirement = self[name] else { return "\(name) is not known any more" }
      let demands = requirement.unmet(by: evidence).map(\.description)
      return "\(name) needs \(demands.joined(separator: " and "))"
    }.joined(separator: "; ")
  }

  /// Whether a text may be a name: visible ASCII without quotes and backslashes, so that a list of names can be separated by spaces
  /// and stand in an answer (RFC 6749 section 5.2).
  package static func mayBeName(_ name: String) -> Bool {
    (1...longestName).contains(name.utf8.count)
      && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }
}
