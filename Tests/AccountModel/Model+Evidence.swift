// The claims of an ID token about the answer to a request (`docs/protocol.md` sections 11.3 and 11.5, RFC 8176).
extension Model {
  /// The properties of an answer from which the claims are derived.
  private struct Evidence {
    enum Kind { case container, uaf, app }

    let kind: Kind
    var factors = 1
    var protection = Traits.KeyProtection.software
    /// Indicates whether a key that only the user has signed the answer.
    var isSigned = true
  }

  /// The `acr`, `amr`, user and `auth_time` of the ID token for a request; `nil` if there is none.
  package func claims(of id: String) -> String? {
    guard let request = requests[id], let evidence = evidence(for: request), let time = request.ended else {
      return nil
    }
    let names = Traits.names(of: id)
    let acr = names.first { isMet($0, by: evidence) } ?? ownName(of: evidence)
    return "\(acr) \(method(of: evidence)) \(nameOfUser(of: request)) \(time)"
  }

  /// The user who was asked or who answered; `nil` if there is none.
  package func user(of id: String) -> String? { requests[id]?.user }

  /// Indicates whether the user has an authenticator that meets one of the names that the client requested.
  func meetsOneName(_ id: String, _ request: Request) -> Bool {
    let names = Traits.names(of: id)
    guard !names.isEmpty, missing != .requirementsAreMet else { return true }
    return evidence(for: request).map { evidence in names.contains { isMet($0, by: evidence) } } ?? false
  }

  /// Indicates whether an answer is sufficient for a request; if the client named nothing, the answer must be signed.
  ///
  /// For a request to one app alone, its answer suffices.
  func isEnough(_ proof: Proof, for id: String, _ request: Request) -> Bool {
    guard !request.isApps, let evidence = evidence(of: proof) else { return true }
    if case .app = proof, missing == .appsShowLittle { return true }
    let names = Traits.names(of: id)
    guard !names.isEmpty else { return evidence.isSigned }
    return missing == .requirementsAreMet || names.contains { isMet($0, by: evidence) }
  }

  /// Indicates whether a key meets the additional policy of an operation.
  func isEnough(_ key: String, under policy: String?) -> Bool {
    guard let policy, missing != .requirementsAreMet, let evidence = evidence(of: .key(key, session: ""))
    else {
      return true
    }
    return isMet(policy, by: evidence)
  }

  private func evidence(for request: Request) -> Evidence? {
    request.state == .accepted ? request.proof.flatMap(evidence(of:)) : nil
  }

  private func evidence(of proof: Proof) -> Evidence? {
    switch proof {
    case .container(let name):
      guard let device = containers[name]?.device else { return nil }
      return Evidence(
        kind: .container, factors: Traits.verifiesUser(onDevice: device) ? 2 : 1,
        protection: Traits.protection(ofContainer: name))
    case .key(let name, _):
      return Evidence(
        kind: .uaf, factors: Traits.factorsOfKeys, protection: Traits.protection(ofKey: name))
    // The server has the key too, so the answer is no signature.
    case .app: return Evidence(kind: .app, isSigned: false)
    }
  }

  /// Indicates whether the evidence meets a named requirement; each of its values is a minimum.
  private func isMet(_ name: String, by evidence: Evidence) -> Bool {
    switch name {
    case "urn:signet:acr:signed": return evidence.kind == .container && evidence.isSigned
    case "urn:signet:acr:answered": return true
    case "urn:signet:acr:uaf": return evidence.kind == .uaf
    default:
      guard let demand = Traits.requirements.first(where: { $0.name == name }) else { return false }
      return evidence.factors >= demand.factors && evidence.protection >= demand.protection
    }
  }

  /// The `acr` value if the client named none.
  private func ownName(of evidence: Evidence) -> String {
    switch evidence.kind {
    case .container: "urn:signet:acr:signed"
    case .uaf: "urn:signet:acr:uaf"
    case .app: "urn:signet:acr:answered"
    }
  }

  /// The `amr` value; `hwk` needs proof that the key is in hardware.
  private func method(of evidence: Evidence) -> String {
    guard evidence.isSigned else { return "mca" }
    return switch evidence.protection {
    case .software: "swk"
    case .claimed: missing == .claimsProveNothing ? "hwk" : "pop"
    case .attested: "hwk"
    }
  }

  private func nameOfUser(of request: Request) -> String {
    request.user.map { users[$0] == .deleted ? "nobody" : $0 } ?? "-"
  }
}
