import SignetCrypto
import SignetIdentifiers
import SignetUAF
import SignetVault

/// A server's registration request for an account, checked and matched with this device.
public struct UAFRegistration: Sendable {
  private let client: UAFClient
  private let server: String?
  private let request: RegistrationRequest
  private let finalChallenge: FinalChallenge
  private let match: MatchedPolicy

  /// The application ID of the new keys.
  public let appID: String

  /// The user's name in the request.
  public var username: String { request.username }

  /// All five authenticators, including those that cannot be chosen.
  public var candidates: [UAFCandidate] { match.candidates }

  /// The usable combinations, in the server's order: one authenticator, or several that are registered together.
  public var combinations: [[UAFCandidate]] { match.usable }

  init(
    _ client: UAFClient, _ server: String?, _ request: RegistrationRequest, _ appID: String,
    _ finalChallenge: FinalChallenge, _ authenticators: [UAFAuthenticator]
  ) {
    self.client = client
    self.server = server
    self.request = request
    self.appID = appID
    self.finalChallenge = finalChallenge
    match = MatchedPolicy(
      request.policy,
      authenticators.map { authenticator in
        // The key IDs let the policy disallow an authenticator that is already registered.
        let keys = authenticator.keys.filter { $0.appID == appID && $0.isFor(server) }.compactMap {
          KeyID(text: $0.keyID)
        }
        let traits = authenticator.kind.traits(client.authenticators)
        return (authenticator, nil, Policy.Candidate(traits, keyIDs: keys))
      })
  }

  /// Returns the first combination that contains an authenticator: all authenticators that must be enrolled together with it.
  ///
  /// - Parameter aaid: The AAID of the authenticator.
  /// - Returns: The combination; `nil` if the authenticator cannot be chosen.
  public func combination(with aaid: String) -> [UAFCandidate]? {
    combinations.first { $0.contains { $0.authenticator.aaid == aaid } }
  }

  /// Enrols the user, then makes the keys and the response.
  ///
  /// All enrolments come before the first key, and a failure leaves no key behind. After a recoverable failure, ask the
  /// user and call again. Pass the server's decision to ``finish(_:isAccepted:)``.
  ///
  /// - Parameter enrolments: One for each authenticator of one of ``combinations``.
  /// - Returns: The response.
  /// - Throws: ``SignetError``: `credentialRefused`, `notRecognised`; `NO_SUITABLE_AUTHENTICATOR` if the authenticators
  ///   are not one of the combinations.
  public func register(_ enrolments: [UAFEnrolment]) async throws(SignetError) -> UAFResponse {
    do throws(UAFFailure) { return try await response(with: enrolments) } catch { throw error.signetError }
  }

  /// Enrols the user, then makes the keys and the response.
  func response(with enrolments: [UAFEnrolment]) async throws(UAFFailure) -> UAFResponse {
    let requestedModels = Set(enrolments.map(\.aaid))
    guard requestedModels.count == enrolments.count,
      let combination = combinations.first(where: { Set($0.map(\.authenticator.aaid)) == requestedModels })
    else { throw UAFClient.noSuitableAuthenticator }
    var tokens: [(kind: UAFAuthenticator.Kind, token: [UInt8])] = []
    var made: [KeyID] = []
    do throws(UAFFailure) {
      try await client.requireUnlocked(request.username, at: server)
      for candidate in combination {
        guard let enrolment = enrolments.first(where: { $0.aaid == candidate.authenticator.aaid }) else {
          continue
        }
        let kind = candidate.authenticator.kind
        let token = try await client.authenticators.enrol(
          kind, by: enrolment.authentication, isBoundToEnrolled: enrolment.invalidateOnNewOsBiometrics,
          allowsPasscode: enrolment.allowDevicePasscodeAsFallback, for: server)
        tokens.append((kind, token))
      }
      // The container may have been locked while the user was being verified.
      try await client.requireUnlocked(request.username, at: server)
      var assertions: [ResponseAssertion] = []
      for (kind, token) in tokens {
        let (assertion, keyID) = try await register(kind, token)
        assertions.append(assertion)
        made.append(keyID)
      }
      let response = RegistrationResponse(
        header: request.header, finalChallenge: finalChallenge, assertions: assertions)
      let keys = try await keys(made)
      return UAFResponse(message: response.text, keys: keys)
    } catch {
      for (_, token) in tokens { await client.authenticators.forget(token) }
      await client.discard(made)
      throw error
    }
  }

  private func keys(_ ids: [KeyID]) async throws(UAFFailure) -> [UAFKey] {
    do throws(SignetError) {
      return try await client.keys().filter { key in ids.contains { $0.text == key.keyID } }
    } catch { throw .device(error) }
  }

  private func register(
    _ kind: UAFAuthenticator.Kind, _ token: [UInt8]
  ) async throws(UAFFailure) -> (ResponseAssertion, KeyID) {
    let outcome = await client.module(for: server).handle(
      ASMRequest(
        .register(
          appID: appID, username: request.username, finalChallenge: finalChallenge.text,
          attestationType: .basicSurrogate), authenticatorIndex: UInt16(kind.index)), userVerifyToken: token)
    guard outcome.response.status == .ok, case .assertion(let bytes, let scheme) = outcome.response.payload
    else { throw UAFClient.failure(outcome) }
    do throws(AssertionFailure) {
      let keyID = try RegistrationAssertion(parsing: bytes).data.keyID
      return (ResponseAssertion(scheme: scheme, bytes: bytes), keyID)
    } catch { preconditionFailure("an assertion of our own is read") }
  }

  /// Deletes the keys that the server's decision makes obsolete: on acceptance the older keys of the same account and
  /// authenticators, otherwise the new keys.
  ///
  /// Without a call both stay, and the server's list of keys decides which is used.
  ///
  /// - Parameters:
  ///   - response: The response that was sent.
  ///   - isAccepted: True if the server accepted it.
  /// - Throws: ``SignetError``.
  public func finish(_ response: UAFResponse, isAccepted: Bool) async throws(SignetError) {
    guard isAccepted else { return try await client.delete(response.keys) }
    let older = try await client.keys().filter { key in
      !response.keys.contains(key)
        && response.keys.contains {
          $0.appID == key.appID && $0.isOf(key.username) && $0.aaid == key.aaid && $0.isFor(key.server)
        }
    }
    try await client.delete(older)
  }
}

/// The enrolment of the user with one authenticator.
public struct UAFEnrolment: Sendable {
  /// The AAID of the authenticator.
  public var aaid: String
  /// The credential: `.password` for the new PIN or password, `.biometrics` for a finger or a face, `.passcode` for the device passcode.
  public var authentication: Authentication
  /// Indicates whether the key is lost when a finger or a face is enrolled or removed later.
  public var invalidateOnNewOsBiometrics: Bool
  /// Indicates whether the device passcode also unlocks a key of a finger or a face.
  public var allowDevicePasscodeAsFallback: Bool

  /// Creates an enrolment.
  ///
  /// - Parameters:
  ///   - aaid: The AAID of the authenticator.
  ///   - authentication: The credential that enrols the user.
  ///   - invalidateOnNewOsBiometrics: True if the key is lost when a finger or a face is enrolled or removed later.
  ///   - allowDevicePasscodeAsFallback: True if the device passcode also unlocks a key of a finger or a face.
  public init(
    aaid: String, authentication: Authentication, invalidateOnNewOsBiometrics: Bool = true,
    allowDevicePasscodeAsFallback: Bool = false
  ) {
    self.aaid = aaid
    self.authentication = authentication
    self.invalidateOnNewOsBiometrics = invalidateOnNewOsBiometrics
    self.allowDevicePasscodeAsFallback = allowDevicePasscodeAsFallback
  }
}

extension UAFAuthenticator.Kind {
  /// The traits that a policy matches.
  func traits(_ authenticators: UAFAuthenticators) -> AuthenticatorTraits {
    authenticators.statement(of: self).traits
  }
}

extension UAFClient {
  /// Deletes new keys after a failed registration; a failure here is ignored, because the earlier failure is reported.
  func discard(_ keys: [KeyID]) async {
    do throws(VaultFailure) { try await authenticators.store.delete(keys) } catch {}
  }
}
