import SignetIdentifiers
import SignetSystem
import SignetUAF
import SignetVault

/// A server's authentication request, checked and matched with this device.
public struct UAFAuthentication: Sendable {
  private let client: UAFClient
  private let server: String?
  private let request: AuthenticationRequest
  private let finalChallenge: FinalChallenge
  /// One match for each account that has a key of the application.
  private let matches: [(username: String, match: MatchedPolicy)]

  /// The application ID of the keys.
  public let appID: String

  /// All authenticators: one candidate for each key of the application, newest first, and one for each authenticator without a key.
  public let candidates: [UAFCandidate]

  /// The transaction to confirm, in each content type that the server offers; empty for a login.
  public var transactions: [UAFTransactionContent] { request.transactions.map(UAFTransactionContent.init) }

  /// The transaction that is signed, to be shown before the user is verified; `nil` if there is none.
  public var transaction: UAFTransactionContent? {
    UAFTransaction.shown(of: request.transactions).map(UAFTransactionContent.init)
  }

  /// The accounts with at least one usable combination, newest key first.
  public var usernames: [String] { matches.filter { !$0.match.usable.isEmpty }.map(\.username) }

  init(
    _ client: UAFClient, _ server: String?, _ request: AuthenticationRequest, _ appID: String,
    _ finalChallenge: FinalChallenge, _ authenticators: [UAFAuthenticator]
  ) {
    self.client = client
    self.server = server
    self.request = request
    self.appID = appID
    self.finalChallenge = finalChallenge
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
      let accountMembers = members.filter { $0.key.isOf(username) }
      return (
        username,
        MatchedPolicy(request.policy, accountMembers.map { ($0.authenticator, $0.key, $0.candidate) })
      )
    }
    let keyless = authenticators.filter { authenticator in
      !members.contains { $0.authenticator.kind == authenticator.kind }
    }
    candidates =
      matches.flatMap { $0.match.candidates }
      + keyless.map { UAFCandidate(authenticator: $0, key: nil, isPolicyCompliant: false) }
  }

  /// Returns the usable combinations of an account, in the server's order: one key, or several that are used together.
  ///
  /// - Parameter username: The user's name.
  /// - Returns: The combinations; empty for an account without one.
  public func combinations(for username: String) -> [[UAFCandidate]] {
    matches.first { $0.username.hasSameBytes(as: username) }?.match.usable ?? []
  }

  /// Returns the first combination of an account that contains an authenticator: all keys that must be used together with it.
  ///
  /// - Parameters:
  ///   - username: The user's name.
  ///   - aaid: The AAID of the authenticator.
  /// - Returns: The combination; `nil` if the authenticator cannot be chosen.
  public func combination(for username: String, with aaid: String) -> [UAFCandidate]? {
    combinations(for: username).first { $0.contains { $0.authenticator.aaid == aaid } }
  }

  /// Verifies the user for each key, then signs.
  ///
  /// All verifications come before the first signature. Before this method returns, the signature counters are on the
  /// disk, and in the hardware if a hardware counter is in use. After a recoverable failure, ask the user and call again.
  ///
  /// Send each response before the next one is made with the same key, across all processes. A server that receives a
  /// lower counter after a higher one treats the key as cloned. ``UAFOperations`` keeps this order.
  ///
  /// - Parameter uses: One use for each key of one combination of an account.
  /// - Returns: The response.
  /// - Throws: ``SignetError``: `wrongCredential`, `coolingDown`, `notRecognised`; `USER_LOCKOUT`,
  ///   `KEY_DISAPPEARED_PERMANENTLY`, `USER_CANCELLED`; `NO_SUITABLE_AUTHENTICATOR` if the keys are not one of the combinations.
  public func authenticate(_ uses: [KeyUnlock]) async throws(SignetError) -> UAFResponse {
    do throws(UAFFailure) {
      return try await authenticate(uses) { () async throws(UAFFailure) in }.response
    } catch { throw error.signetError }
  }

  /// Authenticates, and calls `acquire` after all verifications but before the first signature counter is incremented.
  func authenticate<Lock>(
    _ uses: [KeyUnlock], under acquire: () async throws(UAFFailure) -> Lock
  ) async throws(UAFFailure) -> (response: UAFResponse, lock: Lock) {
    let requestedKeys = Set(uses.map(\.key))
    guard requestedKeys.count == uses.count,
      let combination = matches.lazy.flatMap({ $0.match.usable }).first(where: {
        Set($0.compactMap(\.key)) == requestedKeys
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
      let lock = try await acquire()
      // The container may have been locked while the user was being verified.
      try await requireUnlocked(combination)
      var assertions: [ResponseAssertion] = []
      for (key, kind, token) in verified { assertions.append(try await sign(with: key, kind, token)) }
      let response = AuthenticationResponse(
        header: request.header, finalChallenge: finalChallenge, assertions: assertions)
      return (UAFResponse(message: response.text, keys: combination.compactMap(\.key)), lock)
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

/// The use of one key, with the credential that verifies the user.
public struct KeyUnlock: Sendable {
  /// The key.
  public var key: UAFKey
  /// The credential: `.password` for a PIN or password, `.biometrics` for a finger or a face, `.passcode` for the device passcode.
  public var authentication: Authentication

  /// Creates a use of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - authentication: The credential that verifies the user.
  public init(key: UAFKey, authentication: Authentication) {
    self.key = key
    self.authentication = authentication
  }
}

/// The content of a transaction that the user confirms.
public struct UAFTransactionContent: Hashable, Sendable {
  /// The content type.
  @nonexhaustive public enum Kind: String, Hashable, Sendable {
    /// At most 200 ASCII characters.
    case text = "text/plain"
    /// A PNG picture.
    case png = "image/png"
  }

  /// The content type.
  public let kind: Kind
  /// The bytes that are shown and signed.
  public let bytes: [UInt8]

  /// The text; `nil` for a picture.
  public var text: String? { kind == .text ? String(decoding: bytes, as: UTF8.self) : nil }

  init(_ transaction: UAFTransaction) {
    kind = transaction.contentType == .text ? .text : .png
    bytes = transaction.content
  }
}
