import SignetCrypto
import SignetHTTPClient
import SignetInterchange
import SignetOATH
import SignetPushAuth
import SignetVault

// The registration of a push mechanism at its server, robust against interruptions.
extension Accounts {
  /// Stores an enrolment attempt before the server is contacted; if an attempt for the same URI is stored, that one is continued.
  ///
  /// - Parameters:
  ///   - attempt: The new attempt.
  ///   - unlocked: The accounts.
  /// - Returns: The stored attempt to continue with, and whether its server may have been contacted before.
  /// - Throws: ``SignetError``.
  func begin(
    _ attempt: EnrolmentAttempt, in unlocked: borrowing UnlockedDomain
  ) async throws(SignetError) -> (attempt: EnrolmentAttempt, isRepeated: Bool) {
    let (stored, outdated) = try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        let all = try EnrolmentAttempt.all(in: records)
        if let same = all.first(where: { $0.isSame(as: attempt) }) { return (same, [EnrolmentAttempt]()) }
        let outdated = attempt.outdated(among: all)
        for old in outdated { records.remove(old.recordName) }
        try records.set(attempt.recordName, to: attempt.bytes)
        return (attempt, outdated)
      })
    for part in outdated.flatMap(\.parts) { try await removeState(of: part) }
    return (stored, stored.push != attempt.push)
  }

  /// Deletes a failed enrolment attempt and its stored policies; an attempt that another process has completed is left unchanged.
  ///
  /// - Throws: ``SignetError``.
  func abandon(
    _ attempt: EnrolmentAttempt, in unlocked: borrowing UnlockedDomain
  ) async throws(SignetError) {
    let wasOpen = try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        guard records.names.contains(attempt.recordName) else { return false }
        records.remove(attempt.recordName)
        return true
      })
    guard wasOpen else { return }
    for part in attempt.parts { try await removeState(of: part) }
  }

  /// Registers a mechanism with its server.
  ///
  /// - Parameters:
  ///   - record: The mechanism.
  ///   - parameters: The push part of the URI.
  ///   - target: The push token of this device.
  ///   - isRepeated: True if an earlier request may have been accepted. The server accepts the data of a URI once. If it
  ///     rejects the registration, an update of the push token is sent, which it accepts from a known mechanism.
  /// - Throws: ``SignetError``: `transport`, `pushAuthRefused`.
  func register(
    _ record: PushMechanismRecord, _ parameters: AuthenticatorURI.Push, _ target: PushAuthDevice,
    isRepeated: Bool
  ) async throws(SignetError) {
    let key = try record.readyKey()
    do throws(SignetError) {
      try await send(
        PushAuthRequest.registration(
          of: record.mechanismID, messageID: parameters.messageID ?? "",
          challenge: parameters.challenge ?? [],
          device: target, at: record.endpoints, cookie: record.loadBalancer, key: key))
    } catch {
      guard isRepeated, error.isRefusalOfServer else { throw error }
      do throws(SignetError) {
        try await send(
          PushAuthRequest.update(
            of: record.mechanismID, userID: record.userID, device: target, at: record.endpoints,
            cookie: record.loadBalancer, id: Account.ID(from: device.random).description, key: key))
      } catch let second {
        throw second.isRefusalOfServer ? error : second
      }
    }
  }

  /// Sends a request to a server of the push protocol and checks the status.
  ///
  /// - Throws: ``SignetError``: `transport`, `pushAuthRefused`.
  func send(_ request: PushAuthRequest) async throws(SignetError) {
    let response = try await response(to: request)
    guard (200..<300).contains(response.status) else { throw PushRefusal(response).failure }
  }

  /// Sends a request to a server of the push protocol and returns its answer with any status.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - seconds: The time-out, if it is shorter than the device's.
  /// - Returns: The answer.
  /// - Throws: ``SignetError/transport(_:)``.
  func response(
    to request: PushAuthRequest, within seconds: Int? = nil
  ) async throws(SignetError) -> HTTPResponse {
    var plain = HTTPRequest(
      method: .post, url: request.url, headers: request.headers.filter { $0.name != "Cookie" },
      body: request.body.bytes)
    for pair in (request.cookie ?? "").split(separator: ";") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2,
        let cookie = RequestCookie(
          name: String(parts[0].drop { $0 == " " }), value: String(parts[1]))
      else { continue }
      plain.cookies.append(cookie)
    }
    var connection = device.connection
    if let seconds, connection.timeoutSeconds == 0 || connection.timeoutSeconds > seconds {
      connection.timeoutSeconds = seconds
    }
    let transport = try device.transport(connection)
    do throws(TransportFailure) { return try await transport.send(plain) } catch { throw .transport(error) }
  }
}

extension SignetError {
  /// Indicates whether a server of the push protocol rejected a request permanently (status 400 to 499).
  var isRefusalOfServer: Bool {
    switch self {
    // Time-out, too early and too many requests: a retry may succeed.
    case .pushAuthRefused(408, _), .pushAuthRefused(425, _), .pushAuthRefused(429, _): false
    case .pushAuthRefused(400..<500, _): true
    default: false
    }
  }
}
