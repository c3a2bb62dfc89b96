import SignetJSON
import SignetSystem
import SignetUAF

extension UAFOperations {
  /// Changes the name or the push token of this device at all servers.
  ///
  /// The new values are stored on this device after all servers have accepted them. If one server fails, a later check
  /// finds the difference and ``synchronize(_:authorization:)`` corrects it.
  ///
  /// - Parameters:
  ///   - name: The new name of this device; `nil` to keep the current one.
  ///   - pushToken: The new push token; `nil` to keep the current one.
  ///   - disablesPush: True to remove the push token; `pushToken` is then ignored.
  ///   - retry: The retries if a server cannot be reached.
  /// - Throws: ``SignetError``; never if there is nothing to change.
  public func changeDeviceInformation(
    name: String? = nil, pushToken: String? = nil, disablesPush: Bool = false, retry: UAFRetryPolicy = .none
  ) async throws(SignetError) {
    guard name != nil || pushToken != nil || disablesPush else { return }
    do throws(UAFDeviceInformationChangeFailure) {
      try await change(name: name, pushToken: pushToken, disablesPush: disablesPush, retry)
    } catch { throw error.signetError }
  }

  private func change(
    name: String?, pushToken: String?, disablesPush: Bool, _ retry: UAFRetryPolicy
  ) async throws(UAFDeviceInformationChangeFailure) {
    let state = try await requireState()
    var claims = JSONObject()
    if let name { claims["name"] = .string(name) }
    if disablesPush { claims["target"] = "" } else if let pushToken { claims["target"] = .string(pushToken) }
    for entry in state.accounts {
      guard let target = entry.target else { continue }
      let ordered = claims
      do throws(UAFDeviceServiceFailure) {
        try await retry.run(on: clock, while: \.mayPass) { () async throws(UAFDeviceServiceFailure) in
          try await changeTarget(target, ordered, of: entry)
        }
      } catch { throw UAFDeviceInformationChangeFailure(error, named: name ?? state.name) }
    }
    do throws(SignetError) {
      try await store.change { state in
        if let name { state.name = name }
        if disablesPush { state.pushToken = nil } else if let pushToken { state.pushToken = pushToken }
      }
    } catch { throw .device(error) }
  }

  /// Compares the data of this device with that of the servers.
  ///
  /// - Returns: The differences, and the failures of servers that could not be queried.
  /// - Throws: ``SignetError`` if the vault of this device cannot be read.
  public func checkDeviceInformation() async throws(SignetError) -> UAFDeviceCheck {
    let state = try await store.state()
    let keys = try await client.keys()
    var (mismatches, errors): ([UAFMismatch], [UAFDeviceServiceFailure]) = ([], [])
    guard let state else { return UAFDeviceCheck(mismatches: [], errors: []) }
    for entry in state.accounts {
      let accountKeys = keys.filter { $0.isOf(entry.account.username) && $0.isFor(entry.account.server) }
      guard let target = entry.target else {
        mismatches.append(.missingDeviceInformationInServer(entry.account, dispatchTarget: nil))
        continue
      }
      do throws(UAFDeviceServiceFailure) {
        let remote = try await remoteTargets(of: entry, target, on: state.deviceID)
        mismatches += Self.mismatches(between: (state, entry, target, accountKeys), and: remote)
      } catch {
        if error.isUnknownTarget {
          mismatches.append(.missingDeviceInformationInServer(entry.account, dispatchTarget: target))
        } else {
          errors.append(error)
        }
      }
    }
    return UAFDeviceCheck(mismatches: mismatches, errors: errors)
  }

  /// The differences for one account.
  private static func mismatches(
    between stored: (state: UAFDeviceState, entry: UAFDeviceState.Account, target: String, keys: [UAFKey]),
    and remote: [RemoteTarget]
  ) -> [UAFMismatch] {
    let account = stored.entry.account
    var found: [UAFMismatch] = []
    var visited: Set<[String]> = []
    for key in remote.flatMap(\.keys) where visited.insert([key.aaid.lowercased(), key.keyID]).inserted {
      guard !stored.keys.contains(where: { $0.isKey(key.keyID, ofModel: key.aaid) }) else { continue }
      found.append(.missingAuthenticatorInMobileDevice(account, aaid: key.aaid, keyID: key.keyID))
    }
    for key in stored.keys
    where !remote.flatMap(\.keys).contains(where: { key.isKey($0.keyID, ofModel: $0.aaid) }) {
      found.append(.missingAuthenticatorInServer(account, aaid: key.aaid, keyID: key.keyID))
    }
    for target in remote where target.id != stored.target || stored.keys.isEmpty {
      found.append(.missingDeviceInformationInMobileDevice(account, dispatchTarget: target.id))
    }
    guard !stored.keys.isEmpty else { return found }
    guard let target = remote.first(where: { $0.id == stored.target }) else {
      return found + [.missingDeviceInformationInServer(account, dispatchTarget: stored.target)]
    }
    if !target.name.hasSameBytes(as: stored.state.name) {
      found.append(
        .deviceName(
          account, dispatchTarget: target.id, onDevice: stored.state.name, inServer: target.name))
    }
    if target.pushToken != stored.state.pushToken {
      found.append(
        .pushToken(
          account, dispatchTarget: target.id, onDevice: stored.state.pushToken, inServer: target.pushToken))
    }
    return found
  }

  // MARK: Synchronization

  /// Corrects the differences that a check found, as far as possible; for name and push token the values of this device are used.
  ///
  /// A key that exists on one side only is unusable and is deleted there. Registering this device at a server needs an
  /// authorization; without one, the next authentication that grants one does it. Removing a dispatch target that this
  /// device does not use needs an authorization too, because this device does not have its key.
  ///
  /// - Parameters:
  ///   - mismatches: The differences that a check found.
  ///   - authorization: An authorization for the server of the configuration; it is never sent to another server.
  /// - Returns: The failures of differences that could not be corrected.
  public func synchronize(
    _ mismatches: [UAFMismatch], authorization: UAFAuthorization? = nil
  ) async -> [UAFDeviceServiceFailure] {
    var errors: [UAFDeviceServiceFailure] = []
    for mismatch in mismatches.sorted(by: { $0.order < $1.order }) {
      do throws(UAFDeviceServiceFailure) { try await resolve(mismatch, authorization) } catch {
        errors.append(error)
      }
    }
    return errors
  }

  private func resolve(
    _ mismatch: UAFMismatch, _ provided: UAFAuthorization?
  ) async throws(UAFDeviceServiceFailure) {
    // A token does not name its server, so another server could obtain it by reporting a difference.
    let authorization = mismatch.account.server == configuration.baseURL ? provided : nil
    // If the entry is missing, it was removed together with an earlier difference.
    guard let state = try await local(await store.state()), let entry = state[mismatch.account.username]
    else { return }
    switch mismatch {
    case .missingAuthenticatorInMobileDevice(_, let aaid, let keyID):
      try await removeAtServer(aaid, keyID, of: entry)
    case .missingAuthenticatorInServer(_, let aaid, let keyID):
      let keys = try await local(await keys(of: entry.account.username, at: entry.account.server))
      try await local(await client.delete(keys.filter { $0.isKey(keyID, ofModel: aaid) }))
      try await forgetAccountIfEmpty(entry.account, authorization)
    case .missingDeviceInformationInMobileDevice(_, let target):
      try await removeTarget(target, of: entry, by: authorization)
      try await forgetAccountIfEmpty(entry.account, authorization)
    case .missingDeviceInformationInServer: try await recreateTarget(entry, authorization)
    case .deviceName(_, let target, _, _):
      try await changeTarget(target, ["name": .string(state.name)], of: entry)
    case .pushToken(_, let target, _, _):
      try await changeTarget(target, ["target": .string(state.pushToken ?? "")], of: entry)
    }
  }

  private func removeAtServer(
    _ aaid: String, _ keyID: String, of entry: UAFDeviceState.Account
  ) async throws(UAFDeviceServiceFailure) {
    let server = try deviceServer(of: entry.account)
    let username = entry.account.username
    let context = Self.deregistration(of: username, aaid, keyID)
    let signature = try await local(
      await signature(of: username, where: .jws, to: server, .deregistration, context))
    do throws(UAFNetworkProblem) {
      let answer = try await server.request(
        .deregistration, context, by: .jws, signature: signature
      ).content
      guard answer.statusCode == UAFStatus.ok.rawValue else {
        throw server.problem(.refused(answer.statusCode, description: nil))
      }
    } catch { throw UAFDeviceServiceFailure(error) }
  }

  private func recreateTarget(
    _ entry: UAFDeviceState.Account, _ authorization: UAFAuthorization?
  ) async throws(UAFDeviceServiceFailure) {
    let account = entry.account
    try await local(await store.change { $0[account.username]?.target = nil })
    // Without keys, the account has no use for a dispatch target.
    if try await local(await keys(of: account.username, at: account.server)).isEmpty {
      return try await forgetAccountIfEmpty(account, authorization)
    }
    guard let authorization else { return }
    let server = try deviceServer(of: account)
    let failure = await ensureTarget(of: account, at: server, by: authorization)
    // Another process may have deleted the account in the meantime.
    guard let failure, failure != .notFound else { return }
    throw UAFDeviceServiceFailure(failure, at: server.name)
  }

  private func forgetAccountIfEmpty(
    _ account: UAFAccount, _ authorization: UAFAuthorization?
  ) async throws(UAFDeviceServiceFailure) {
    if let failure = try await local(await forgetIfEmpty(account, by: authorization)) { throw failure }
  }

  /// Converts a failure of the vault to a failure of the device service.
  private func local<Value>(
    _ call: @autoclosure () async throws(SignetError) -> Value
  ) async throws(UAFDeviceServiceFailure) -> Value {
    do { return try await call() } catch { throw .device(error) }
  }
}

extension UAFMismatch {
  /// The order of correction: keys that are missing on this device first, deletions last.
  fileprivate var order: Int {
    switch self {
    case .missingAuthenticatorInMobileDevice: 0
    case .missingDeviceInformationInServer: 1
    case .deviceName, .pushToken: 2
    case .missingDeviceInformationInMobileDevice: 3
    case .missingAuthenticatorInServer: 4
    }
  }
}

extension UAFDeviceServiceFailure {
  /// Indicates whether a retry of the same request may succeed.
  var mayPass: Bool { if case .network(let problem) = self { problem.mayPass } else { false } }
}
