import SignetCrypto
import SignetOATH
import SignetPushAuth
import SignetTransport
import SignetVault

// How a device and a server agree on a push mechanism, whatever ends in between.
extension Accounts {
  /// Notes that an enrolment begins; where the same was begun before and not ended, that one is gone on with.
  ///
  /// - Parameters:
  ///   - attempt: The one that would begin.
  ///   - unlocked: The accounts.
  /// - Returns: The one to go on with, which is on the disk, and whether its server may have been asked before.
  /// - Throws: ``SignetFailure``.
  func begin(
    _ attempt: EnrolmentAttempt, in unlocked: borrowing UnlockedDomain
  ) async throws(SignetFailure) -> (attempt: EnrolmentAttempt, isRepeated: Bool) {
    let (begun, outdated) = try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        let all = try EnrolmentAttempt.all(in: records)
        if let same = all.first(where: { $0.isSame(as: attempt) }) { return (same, [EnrolmentAttempt]()) }
        let outdated = attempt.outdated(among: all)
        for old in outdated { records.remove(old.recordName) }
        try records.set(attempt.recordName, to: attempt.bytes)
        return (attempt, outdated)
      })
    for part in outdated.flatMap(\.parts) { try await forgetNotes(of: part) }
    return (begun, begun.push != attempt.push)
  }

  /// Forgets an enrolment that came to nothing, with what it has left; one that another process has ended well stays.
  ///
  /// - Throws: ``SignetFailure``.
  func abandon(
    _ attempt: EnrolmentAttempt, in unlocked: borrowing UnlockedDomain
  ) async throws(SignetFailure) {
    let wasOpen = try await vaulted(
      await device.vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        guard records.names.contains(attempt.recordName) else { return false }
        records.remove(attempt.recordName)
        return true
      })
    guard wasOpen else { return }
    for part in attempt.parts { try await forgetNotes(of: part) }
  }

  /// Registers a mechanism with its server.
  ///
  /// - Parameters:
  ///   - record: The mechanism.
  ///   - half: What the URI says of it.
  ///   - target: Where pushes for this device go.
  ///   - isRepeated: Whether the server may have been asked before, and have agreed. It takes what is in the URI once, so where
  ///     it refuses it is told where pushes go, which it takes from mechanisms that it knows.
  /// - Throws: ``SignetFailure``: `transport`, `pushAuthRefused`.
  func register(
    _ record: PushMechanismRecord, _ half: AuthenticatorURI.Push, _ target: PushAuthDevice, isRepeated: Bool
  ) async throws(SignetFailure) {
    let key = try record.readyKey()
    do throws(SignetFailure) {
      try await send(
        PushAuthRequest.registration(
          of: record.mechanismID, messageID: half.messageID ?? "", challenge: half.challenge ?? [],
          device: target, at: record.endpoints, cookie: record.loadBalancer, key: key))
    } catch {
      guard isRepeated, error.isRefusalOfServer else { throw error }
      do throws(SignetFailure) {
        try await send(
          PushAuthRequest.update(
            of: record.mechanismID, userID: record.userID, device: target, at: record.endpoints,
            cookie: record.loadBalancer, id: Account.ID(from: device.random).description, key: key))
      } catch let second {
        throw second.isRefusalOfServer ? error : second
      }
    }
  }

  /// Sends a request to a server of the push protocol.
  ///
  /// - Throws: ``SignetFailure``: `transport`, `pushAuthRefused`.
  func send(_ request: PushAuthRequest) async throws(SignetFailure) {
    let response = try await response(to: request)
    guard (200..<300).contains(response.status) else { throw PushRefusal(response).failure }
  }

  /// What a server of the push protocol says to a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - seconds: How long the answer is waited for, where that is shorter than the device's time limit.
  /// - Returns: The answer.
  /// - Throws: ``SignetFailure/transport(_:)``.
  func response(
    to request: PushAuthRequest, within seconds: Int? = nil
  ) async throws(SignetFailure) -> HTTPResponse {
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

extension SignetFailure {
  /// Whether a server of the push protocol has said no, and means it.
  var isRefusalOfServer: Bool {
    switch self {
    // Too slow, too early, too often: it may say something else the next time.
    case .pushAuthRefused(408, _), .pushAuthRefused(425, _), .pushAuthRefused(429, _): false
    case .pushAuthRefused(400..<500, _): true
    default: false
    }
  }
}
