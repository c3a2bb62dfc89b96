import AccountModel
import SignetHTTPClient
import SignetJSON
import SignetUAF
import Synchronization
import UAFFixture

// Keys of UAF authenticators, which speak the protocol to the server.
extension ProcessHistory {
  struct HeldKey: Sendable {
    /// The name in the model.
    let name: String
    let user: String
    var key: UAFTestKey
  }

  func performWithKey(_ turn: Turn) async throws {
    guard turn.kind >= 73 else {
      return try await registerKey(of: turn.user, by: turn.name, turn.party, turn.server)
    }
    let held = state.withLock { turn.one(of: $0.keys) }
    guard let held else { return }
    switch turn.kind {
    case 73..<76: try await logIn(with: held, confirming: nil, turn.party, turn.server)
    case 76..<85:
      // One of the last requests, since most earlier ones have ended.
      let request = state.withLock { state -> String? in
        let asked = Array(state.requests.filter { state.asked[$0] == held.user }.suffix(3))
        return asked.isEmpty ? nil : asked[Int(turn.second % UInt64(asked.count))]
      }
      guard let request else { return }
      try await logIn(with: held, confirming: request, turn.party, turn.server)
    default:
      let aaid = held.key.aaid.text.replacing("#", with: "%23")
      try await change(
        .removeKey(held.name, user: held.user), ["done"], turn.server, .delete,
        "admin/uaf/credentials/\(aaid)/\(held.key.keyID.text)")
    }
  }

  func registerKey(of user: String, by name: String, _ party: Int, _ server: Int) async throws {
    var key = UAFTestKey()
    // The model has 0 for a key that has signed nothing.
    key.signCounter = 0
    let held = HeldKey(name: Self.name("k\(number)-\(name)"), user: user, key: key)
    guard let bytes = try await begin(.registration, of: user, nil, party, server) else { return }
    let request = try RegistrationRequest(parsing: bytes.request, versions: [.v1_1])
    let challenge = Self.final(request.header, request.challenge)
    let assertion = try key.registrationAssertion(key.registrationElements(challenge.hash))
    let response = RegistrationResponse(
      header: request.header, finalChallenge: challenge, assertions: [ResponseAssertion(bytes: assertion)])
    note(
      .begin(session: Self.session(request.header), user: user, isRegistration: true, request: nil, by: nil),
      ["done"], .accepted, from: bytes.began)
    // The key may be registered even if the answer is lost; if it is not, the server rejects its later uses.
    state.withLock { $0.keys.append(held) }
    let step = Step.register(
      session: Self.session(request.header), key: held.name, publicKey: held.name, user: user, device: nil)
    try await answer(step, "registration", response.text, party, server)
  }

  /// Authenticates a user, or confirms a request with the user's key.
  func logIn(with held: HeldKey, confirming request: String?, _ party: Int, _ server: Int) async throws {
    guard let bytes = try await begin(.authentication, of: held.user, request, party, server) else { return }
    let asked = try AuthenticationRequest(parsing: bytes.request, versions: [.v1_1])
    note(
      .begin(
        session: Self.session(asked.header), user: held.user, isRegistration: false,
        request: request.map { Self.name($0) }, by: nil), ["done"], .accepted, from: bytes.began)
    // A key that the request does not name is rejected before it reaches a step.
    guard
      asked.policy.accepted.contains(where: { $0.contains { $0.keyIDs?.contains(held.key.keyID) ?? false } })
    else { return }
    var key = held.key
    // Each use increments the counter; if a later response arrives first, the earlier one looks like that of a cloned key.
    key.signCounter = state.withLock { state in
      guard let index = state.keys.firstIndex(where: { $0.name == held.name }) else { return 1 }
      state.keys[index].key.signCounter += 1
      return state.keys[index].key.signCounter
    }
    let challenge = Self.final(asked.header, asked.challenge)
    let elements = key.authenticationElements(
      challenge.hash, transactionHash: asked.transactions.first?.hash ?? [])
    let response = AuthenticationResponse(
      header: asked.header, finalChallenge: challenge,
      assertions: [ResponseAssertion(bytes: try key.authenticationAssertion(elements))])
    let step = Step.login(
      session: Self.session(asked.header), user: held.user, key: held.name, counter: key.signCounter)
    try await answer(step, "authentication", response.text, party, server)
  }

  /// Begins an operation; one whose answer is lost is never answered, and without an operation nothing has changed.
  private func begin(
    _ operation: UAFOperation, of user: String, _ request: String?, _ party: Int, _ server: Int
  ) async throws -> (request: [UInt8], began: Int)? {
    let began = tick()
    var context: JSONObject = ["username": .string(user)]
    context["transactionId"] = request.map { .string($0) }
    let path = operation == .registration ? "registration" : "authentication"
    let answer = try await parties[party][server].uaf(
      "request/\(path)", ["op": .string(operation.rawValue), "context": .string(context.text)])
    guard let answer else {
      state.withLock { $0.lost += 1 }
      return nil
    }
    return answer.status == 1200 ? (answer.request, began) : nil
  }

  /// Sends a response, which counts once.
  private func answer(
    _ step: Step, _ path: String, _ response: String, _ party: Int, _ server: Int
  ) async throws {
    try await attempt(step, ["accepted"], server) { server in
      let answer = try await self.parties[party][server].uaf(path, ["uafResponse": .string(response)])
      guard let answer else { return .lost }
      switch answer.status {
      case 1200: return .accepted
      // The key is quarantined as a clone. These responses have none of the other errors behind this status.
      case 1498: return .found("cloned authenticator")
      default: return .refused
      }
    }
  }

  private static func final(_ header: OperationHeader, _ challenge: [UInt8]) -> FinalChallenge {
    FinalChallenge(
      FinalChallengeParams(appID: header.appID ?? "", challenge: challenge, facetID: ProcessPair.facet))
  }

  /// The name of an operation in the model: the part of the server data before the dot.
  private static func session(_ header: OperationHeader) -> String {
    name(String((header.serverData ?? "").prefix { $0 != "." }))
  }
}
