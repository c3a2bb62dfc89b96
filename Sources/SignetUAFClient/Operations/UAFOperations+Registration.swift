import SignetJSON
import SignetSystem
import SignetUAF

/// The result of a registration.
public struct UAFRegistrationOutcome: Sendable {
  /// The account.
  public let account: UAFAccount
  /// The authenticators that were registered, by AAID.
  public let aaids: [String]
  /// The failure to register this device for messages at the server; `nil` if it is registered.
  ///
  /// If the name is taken, ``UAFOperations/changeDeviceInformation(name:pushToken:disablesPush:retry:)`` changes it. The
  /// next authentication tries again.
  public let targetFailure: UAFDeviceInformationChangeFailure?
}

/// The protection of the keys of a registration.
public struct UAFKeyOptions: Hashable, Sendable {
  /// Indicates whether enrolling another finger or face later invalidates the key.
  public var invalidateOnNewOsBiometrics = true
  /// Indicates whether the device passcode also unlocks a key of a finger or a face.
  public var allowDevicePasscodeAsFallback = false

  /// Creates the default options: a new finger or face invalidates the key, and the device passcode does not unlock it.
  public init() {}
}

extension UAFOperations {
  /// Registers an authenticator for a user.
  ///
  /// - Parameters:
  ///   - username: The user's name.
  ///   - policy: The server's name of the policy; `nil` for its default policy.
  ///   - server: A server other than the configured one, `https://host[:port]`; the paths stay.
  ///   - newDevice: The name and push token of this device; used at the first registration only.
  ///   - authorization: The authorization to register.
  ///   - options: The protection of the keys.
  /// - Returns: The account and the registered authenticators.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func register(
    _ username: String, policy: String? = nil, server: String? = nil, device newDevice: UAFNewDevice,
    authorization: UAFAuthorization? = nil, options: UAFKeyOptions = UAFKeyOptions()
  ) async throws(SignetError) -> UAFRegistrationOutcome {
    do {
      return try await register(
        username, policy, at: self.server(at: server), newDevice, authorization, options)
    } catch { throw UAFOperationFailure(thrown: error).signetError }
  }

  private func register(
    _ username: String, _ policy: String?, at server: UAFServer, _ new: UAFNewDevice,
    _ authorization: UAFAuthorization?, _ options: UAFKeyOptions
  ) async throws -> UAFRegistrationOutcome {
    try await requireNoOtherServer(username, server)
    var context: JSONObject = ["username": .string(username)]
    if let policy { context["policy"] = .string(policy) }
    let signature = try await signature(
      of: username, where: authorization, to: server, .registration, context)
    let answer = try await server.request(.registration, context, by: authorization, signature: signature)
    return try await register(
      answer.content, at: server, as: username, new, authorization, options)
  }

  /// Answers a server's registration request.
  func register(
    _ request: ReturnUAFRequest, at server: UAFServer, as username: String?, _ new: UAFNewDevice,
    _ authorization: UAFAuthorization?, _ options: UAFKeyOptions
  ) async throws -> UAFRegistrationOutcome {
    let message = try self.message(of: request, .registration, at: server)
    let steps = RegistrationSteps(
      operations: self, server: server, message: message, authorization: authorization)
    do { return try await steps.run(as: username, new, options) } catch {
      let failure = UAFOperationFailure(thrown: error)
      await report(failure, of: .registration, message, to: server, by: authorization)
      throw error
    }
  }

  /// Returns the UAF request in a server's answer.
  func message(
    of answer: ReturnUAFRequest, _ operation: UAFOperation, at server: UAFServer
  ) throws(UAFOperationFailure) -> String {
    guard answer.statusCode == UAFStatus.ok.rawValue else {
      let isMissing = answer.statusCode == UAFStatus.notFound.rawValue
      throw .network(
        server.problem(.refused(answer.statusCode, description: isMissing ? operation.missing : nil)))
    }
    guard let message = answer.request, answer.operation ?? operation == operation else {
      throw .fido(.protocolError)
    }
    return message
  }

  /// Rejects a user name that is registered at another server, because user names are unique on a device.
  func requireNoOtherServer(_ username: String, _ server: UAFServer) async throws {
    let state = try await store.state()
    if let present = state?[username]?.account, present.server != server.name {
      throw UAFOperationFailure.userAlreadyRegisteredInAnotherServer(present.server)
    }
  }
}

/// The steps of a registration after the server's request.
private struct RegistrationSteps {
  let operations: UAFOperations
  let server: UAFServer
  let message: String
  let authorization: UAFAuthorization?

  func run(
    as username: String?, _ new: UAFNewDevice, _ options: UAFKeyOptions
  ) async throws -> UAFRegistrationOutcome {
    let registration = try await opened()
    // Otherwise a server could register a key for another user.
    if let username, !registration.username.hasSameBytes(as: username) {
      throw UAFOperationFailure.fido(.protocolError)
    }
    try await operations.requireNoOtherServer(registration.username, server)
    let account = UAFAccount(username: registration.username, server: server.name)
    try await operations.requireUnlocked(account)
    let combination = try await chosen(registration, account)
    let state = try await operations.store.begin(account, new)
    do {
      let response = try await made(registration, combination, options)
      let answer = try await accepted(registration, response, state)
      let proof = UAFAuthorization(answer.content, answer.cookies) ?? authorization
      return UAFRegistrationOutcome(
        account: account, aaids: combination.map(\.authenticator.aaid),
        targetFailure: await operations.ensureTarget(of: account, at: server, by: proof))
    } catch {
      _ = try await operations.forgetIfEmpty(account, by: authorization)
      throw error
    }
  }

  private func opened() async throws -> UAFRegistration {
    let request = try await operations.client.opened(message, from: server.name)
    guard case .registration(let registration) = request else {
      throw UAFOperationFailure.fido(.protocolError)
    }
    return registration
  }

  /// Lets the user select an authenticator and returns the combination that is registered together.
  private func chosen(
    _ registration: UAFRegistration, _ account: UAFAccount
  ) async throws -> [UAFCandidate] {
    let choices = registration.candidates.map { candidate in
      UAFAuthenticatorChoice(candidate, isRegistration: true, for: account.username)
    }
    let aaid = try await operations.selected(choices, for: account, nil)
    guard let combination = registration.combination(with: aaid), combination.allSatisfy(\.isUsable) else {
      throw UAFOperationFailure.fido(.noSuitableAuthenticator)
    }
    return combination
  }

  /// Asks the user for credentials until the keys are made.
  private func made(
    _ registration: UAFRegistration, _ combination: [UAFCandidate], _ options: UAFKeyOptions
  ) async throws -> UAFResponse {
    var questions = CredentialQuestions(
      conversation: operations.conversation, username: registration.username, transaction: nil)
    while true {
      var enrolments: [UAFEnrolment] = []
      for candidate in combination {
        enrolments.append(
          UAFEnrolment(
            aaid: candidate.authenticator.aaid,
            authentication: try await questions.enrolment(of: candidate.authenticator),
            invalidateOnNewOsBiometrics: options.invalidateOnNewOsBiometrics,
            allowDevicePasscodeAsFallback: options.allowDevicePasscodeAsFallback))
      }
      do throws(UAFFailure) {
        let response = try await registration.response(with: enrolments)
        await questions.reportSuccess(combination.map(\.authenticator))
        return response
      } catch {
        guard questions.mayRetry(after: error) else { throw error }
      }
    }
  }

  /// Sends the response and deletes the new keys if the server rejects them.
  private func accepted(
    _ registration: UAFRegistration, _ response: UAFResponse, _ state: UAFDeviceState
  ) async throws -> UAFServer.Answer<UAFServerResponse> {
    let context: JSONObject = ["deviceId": .string(state.deviceID)]
    let answer: UAFServer.Answer<UAFServerResponse>
    do throws(UAFNetworkProblem) {
      answer = try await server.respond(.registration, response.message, context, by: authorization)
    } catch {
      // If the result is ambiguous, the server may have the keys; a later check decides.
      if !error.isAmbiguous { try await registration.finish(response, isAccepted: false) }
      throw error
    }
    let status = answer.content.statusCode
    let isAccepted = status == UAFStatus.ok.rawValue || status == UAFStatus.accepted.rawValue
    try await registration.finish(response, isAccepted: isAccepted)
    guard isAccepted else {
      throw UAFOperationFailure.network(
        server.problem(.refused(status, description: answer.content.description)))
    }
    return answer
  }
}

extension UAFOperation {
  /// The possible reasons of the status "not found" (1404), which does not name the missing object.
  fileprivate var missing: String {
    switch self {
    case .registration: "there is no such user, or no such policy"
    case .authentication:
      "no key of this user is registered there that the policy accepts, or there is no such policy; register again"
    case .deregistration: "no such key is registered there; delete it from this device alone"
    }
  }
}
