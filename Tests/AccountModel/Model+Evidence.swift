// What an ID token says of the answer to a request (`docs/protocol.md` sections 11.3 and 11.5, RFC 8176).
extension Model {
  /// What an answer shows of how it was given.
  private struct Evidence {
    enum Kind { case container, uaf, app }

    let kind: Kind
    var factors = 1
    var protection = Traits.KeyProtection.software
    /// Whether what was shown is signed by a key of the user's alone.
    var isSigned = true
  }

  /// `acr`, `amr`, the user and `auth_time` of the ID token for a request; `nil` where there is none.
  package func claims(of id: String) -> String? {
    guard let request = requests[id], let evidence = evidence(for: request), let time = request.ended else {
      return nil
    }
    let names = Traits.names(of: id)
    let acr = names.first { isMet($0, by: evidence) } ?? ownName(of: evidence)
    return "\(acr) \(method(of: evidence)) \(nameOfUser(of: request)) \(time)"
  }

  /// Who was asked, or has answered; `nil` for nobody.
  package func user(of id: String) -> String? { requests[id]?.user }

  /// Whether an answer shows what one of the names demands that the client has given.
  func meetsOneName(_ id: String, _ request: Request) -> Bool {
    let names = Traits.names(of: id)
    guard !names.isEmpty, missing != .requirementsAreMet else { return true }
    return evidence(for: request).map { evidence in names.contains { isMet($0, by: evidence) } } ?? false
  }

  /// Whether an answer does for a request when it is given: where nothing is named, what was shown has to be signed.
  ///
  /// Who has an app asked alone demands no more.
  func isEnough(_ proof: Proof, for id: String, _ request: Request) -> Bool {
    guard !request.isApps, let evidence = evidence(of: proof) else { return true }
    if case .app = proof, missing == .appsShowLittle { return true }
    let names = Traits.names(of: id)
    guard !names.isEmpty else { return evidence.isSigned }
    return missing == .requirementsAreMet || names.contains { isMet($0, by: evidence) }
  }

  /// Whether a key meets what an operation demands besides.
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
    // The server has the key too.
    case .app: return Evidence(kind: .app, isSigned: false)
    }
  }

  /// Each demand is a minimum.
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

  /// What `acr` is where the client has named nothing.
  private func ownName(of evidence: Evidence) -> String {
    switch evidence.kind {
    case .container: "urn:signet:acr:signed"
    case .uaf: "urn:signet:acr:uaf"
    case .app: "urn:signet:acr:answered"
    }
  }

  /// `amr`: that a key is in hardware is only said where it is proved.
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
