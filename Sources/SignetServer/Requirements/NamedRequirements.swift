import SignetSystem

/// The requirements that relying parties can name: the built-in ones, and the operator's.
package struct NamedRequirements: Hashable, Sendable {
  /// The maximum length of a name, in characters.
  package static let longestName = 128
  /// The maximum number of requirements of an operator.
  package static let limit = 64

  /// The prefix of names that are reserved for this product.
  package static let prefix = "urn:signet:"

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

  /// The built-in names, which have the same meaning at every server.
  package static let builtInNames = builtIn.map(\.name)

  /// The requirement if none is named: the shown content must be signed, so that the answer is evidence for others.
  private static let unnamed: AuthenticationRequirement = {
    var unnamed = AuthenticationRequirement()
    unnamed.needsSignedContent = true
    return unnamed
  }()

  /// The operator's requirements, by name.
  package var own: [String: AuthenticationRequirement] = [:]

  /// Creates the built-in requirements alone.
  package init() {}

  /// The requirement of a name; `nil` if there is none.
  package subscript(name: String) -> AuthenticationRequirement? {
    Self.builtIn.first { $0.name.hasSameBytes(as: name) }?.requirement ?? own[name]
  }

  /// All names: the built-in ones, then the operator's in alphabetical order.
  package var names: [String] { Self.builtInNames + own.keys.sorted() }

  /// Returns the first of some names whose requirement the evidence meets; `nil` for none.
  package func first(of names: [String], metBy evidence: AuthenticationEvidence) -> String? {
    names.first { self[$0]?.unmet(by: evidence).isEmpty ?? false }
  }

  /// Returns true if the evidence meets the requirement of at least one name or, without names, the default requirement.
  package func isOneMet(of names: [String], by evidence: AuthenticationEvidence) -> Bool {
    names.isEmpty ? Self.unnamed.unmet(by: evidence).isEmpty : first(of: names, metBy: evidence) != nil
  }

  /// Returns the smallest number of digits that any of the requirements accepts; 0 if one of them needs no number.
  package func numberDigits(of names: [String]) -> Int {
    names.compactMap { self[$0]?.numberDigits }.min() ?? 0
  }

  /// Returns true if the evidence meets the requirements of all names.
  ///
  /// No evidence meets a name that no longer exists.
  package func areMet(_ names: [String], by evidence: AuthenticationEvidence) -> Bool {
    names.allSatisfy { self[$0]?.unmet(by: evidence).isEmpty ?? false }
  }

  /// Returns a text with the unmet demands of each name: `phrh needs phishing resistance and a key in attested hardware`.
  package func missing(for names: [String], in evidence: AuthenticationEvidence) -> String {
    names.map { name in
      guard let requirement = self[name] else { return "\(name) is no longer defined" }
      let unmet = requirement.unmet(by: evidence).map(\.description)
      return "\(name) needs \(unmet.joined(separator: " and "))"
    }.joined(separator: "; ")
  }

  /// Returns true if a text is valid as a name: visible ASCII without quotes and backslashes.
  ///
  /// A list of such names can be separated by spaces and be part of an error answer (RFC 6749 section 5.2).
  package static func mayBeName(_ name: String) -> Bool {
    (1...longestName).contains(name.utf8.count)
      && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }
}
