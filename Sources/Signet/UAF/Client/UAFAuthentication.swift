import SignetUAF
import SignetVault

/// A server's request for the use of keys, checked and matched with this device.
public struct UAFAuthentication: Sendable {
  private let client: UAFClient
  private let server: String?
  private let request: AuthenticationRequest
  private let finalChallenge: FinalChallenge
  /// One for each account that has a key of the application.
  private let matches: [(username: String, match: MatchedPolicy)]

  /// The application that the keys are for.
  public let appID: String

  /// All authenticators with each key of the application, newest first, and those without a key once.
  public let candidates: [UAFCandidate]

  /// What the server wants confirmed, in all the types that it has it in; empty for signing in alone.
  public var transactions: [UAFTransactionContent] { request.transactions.map(UAFTransactionContent.init) }

  /// The transaction that is signed, to be shown before the user is verified; `nil` where there is none.
  public var transaction: UAFTransactionContent? {
    UAFTransaction.shown(of: request.transactions).map(UAFTransactionContent.init)
  }

  /// The accounts for which there is something that can be chosen, the newest key's first.
  public var usernames: [String] { matches.filter { !$0.match.usable.isEmpty }.map(\.username) }

  init(
    _ client: UAFClient, _ server: String?, _ request: AuthenticationRequest, _ appID: String,
    _ finalChallenge: FinalChallenge, _ authenticators: [UAFAuthenticator]
  ) {
    (self.client, self.server, self.request) = (client, server, request)
    (self.appID, self.finalChallenge) = (appID, finalChallenge)
    var members: [(authenticator: UAFAuthenticator, key: UAFKey, candidate: Policy.Candidate)] = []
    for authenticator in authenticators {
      let traits = authenticator.kind.traits(client.authenticators)
      for key in authenticator.keys.reversed() where key.appID == appID && key.isFor(server) {
        guard let keyID = KeyID(text: key.keyID) else { continue }
        members.append((authenticator, key, Policy.Candidate(traits, keyIDs: [keyID])))
      }
    }
    var usernames: [String] = []
    for member in members.sorted(by: { $0.key.created > $1.key.created })
    where !usernames.contains(where: member.key.isOf) { usernames.append(member.key.username) }
    matches = usernames.map { username in
      let own = members.filter { $0.key.isOf(username) }
      return (username, MatchedPolicy(request.policy, own.map { ($0.authenticator, $0.key, $0.candidate) }))
    }
    let keyless = authenticators.filter { authenticator in
      !members.contains { $0.authenticator.kind == authenticator.kind }
    }
    candidates =
      matches.flatMap { $0.match.candidates }
      + keyless.map { UAFCandidate(authenticator: $0, key: nil, isPolicyCompliant: false) }
  }

  /// What can be chosen for an account, in the server's order: one key, or several that are needed together.
  ///
  /// - Parameter username: The account.
  /// - Returns: The combinations; none for an account without one.
  public func combinations(for username: String) -> [[UAFCandidate]] {
    matches.first { $0.username.utf8.elementsEqual(username.utf8) }?.match.usable ?? []
  }

  /// The first combination of an account that an authenticator is in: what has to be used together with it.
  ///
  /// - Parameters:
  ///   - username: The account.
  ///   - aaid: The authenticator.
  /// - Returns: The combination; `nil` where the authenticator cannot be chosen.
  public func combination(for username: String, with aaid: String) -> [UAFCandidate]? {
    combinations(for: username).first { $0.contains { $0.authenticator.aaid == aaid } }
  }

  /// Verifies the user for each use, then signs.
  ///
  /// All are verified before the first signature; the counters are on the disk, and counted by the hardware where that counts,
  /// before this returns. After a recoverable failure, ask the user and call again.
  ///
  /// Send one response before the next is made with the same key, in whatever process: a server takes a lower counter after a higher one
  /// for that of a copied key. ``UAFOperations`` sees to that.
  ///
  /// - Parameter uses: One for each key of one of the combinations of an account.
  /// - Returns: The response.
  /// - Throws: ``UAFFailure``: `wrongSecret`, `coolingDown`, `notRecognised`, `wrongPasscode`; `USER_LOCKOUT`,
  ///   `KEY_DISAPPEARED_PERMANENTLY`, `USER_CANCELLED`; `NO_SUITABLE_AUTHENTICATOR` where the keys are none of the combinations.
  public func authenticate(_ uses: [UAFUse]) async throws(UAFFailure) -> UAFResponse {
    try await authenticate(uses) { () async throws(UAFFailure) in }.response
  }

  /// The same, with what is waited for when all are verified, before the first number of a counter is taken.
  func authenticate<Turn>(
    _ uses: [UAFUse], inTurn wait: () async throws(UAFFailure) -> Turn
  ) async throws(UAFFailure) -> (response: UAFResponse, turn: Turn) {
    let wanted = Set(uses.map(\.key))
    guard wanted.count == uses.count,
      let combination = matches.lazy.flatMap({ $0.match.usable }).first(where: {
        Set($0.compactMap(\.key)) == wanted
      })
    else { throw UAFClient.noSuitableAuthenticator }
    var verified: [(key: KeyID, kind: UAFAuthenticator.Kind, token: [UInt8])] = []
    do throws(UAFFailure) {
      try await requireUnlocked(combination)
      for candidate in combination {
        guard let use = uses.first(where: { $0.key == candidate.key }), let keyID = KeyID(text: use.key.keyID)
        else { continue }
        let kind = candidate.authenticator.kind
        let token = try await client.authenticators.verify(keyID, of: kind, by: use.authentication)
        verified.append((keyID, kind, token))
      }
      let turn = try await wait()
      // The user may have taken a minute, and so may whoever has locked the container.
      try await requireUnlocked(combination)
      var assertions: [ResponseAssertion] = []
      for (key, kind, token) in verified { assertions.append(try await sign(with: key, kind, token)) }
      let response = AuthenticationResponse(
        header: request.header, finalChallenge: finalChallenge, assertions: assertions)
      return (UAFResponse(message: response.text, keys: combination.compactMap(\.key)), turn)
    } catch {
      for (_, _, token) in verified { await client.authenticators.forget(token) }
      throw error
    }
  }

  private func requireUnlocked(_ combination: [UAFCandidate]) async throws(UAFFailure) {
    for key in combination.compactMap(\.key) {
      try await client.requireUnlocked(key.username, at: key.server)
    }
  }

  private func sign(
    with key: KeyID, _ kind: UAFAuthenticator.Kind, _ token: [UInt8]
  ) async throws(UAFFailure) -> ResponseAssertion {
    let outcome = await client.module(for: server).handle(
      ASMRequest(
        .authenticate(
          appID: appID, keyIDs: [key], finalChallenge: finalChallenge.text, transactions: request.transactions
        ),
        authenticatorIndex: UInt16(kind.index)), userVerifyToken: token)
    guard outcome.response.status == .ok, case .assertion(let bytes, let scheme) = outcome.response.payload
    else { throw UAFClient.failure(outcome) }
    return ResponseAssertion(scheme: scheme, bytes: bytes)
  }
}

/// The use of one key, and how the user is verified for it.
public struct UAFUse: Sendable {
  /// The key.
  public var key: UAFKey
  /// `.password` with the PIN or password, `.biometrics` for a finger or a face, `.passcode` for the device's passcode.
  public var authentication: Authentication

  /// Names both.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - authentication: What verifies the user.
  public init(key: UAFKey, authentication: Authentication) {
    (self.key, self.authentication) = (key, authentication)
  }
}

/// What a user is asked to confirm.
public struct UAFTransactionContent: Hashable, Sendable {
  /// What the content is.
  @nonexhaustive public enum Kind: String, Hashable, Sendable {
    /// At most 200 ASCII characters.
    case text = "text/plain"
    /// A picture.
    case png = "image/png"
  }

  /// What the content is.
  public let kind: Kind
  /// What is shown, and what is signed.
  public let bytes: [UInt8]

  /// The text; `nil` for a picture.
  public var text: String? { kind == .text ? String(decoding: bytes, as: UTF8.self) : nil }

  init(_ transaction: UAFTransaction) {
    kind = transaction.contentType == .text ? .text : .png
    bytes = transaction.content
  }
}
