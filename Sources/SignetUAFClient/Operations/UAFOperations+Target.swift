import SignetCrypto
import SignetHTTPClient
import SignetJOSE
import SignetJSON
import SignetSystem
import SignetVault

extension UAFOperations {
  /// Registers this device as a dispatch target for an account at a server, unless the account has one.
  ///
  /// - Returns: The failure; `nil` if the account has a dispatch target.
  func ensureTarget(
    of account: UAFAccount, at server: UAFServer, by authorization: UAFAuthorization?
  ) async -> UAFDeviceInformationChangeFailure? {
    do throws(UAFDeviceInformationChangeFailure) {
      let state = try await requireState()
      guard let entry = state[account.username] else { throw .notFound }
      guard entry.target == nil else { return nil }
      // Stored before the request: if this process is killed before the answer, the server may have an unknown target.
      try await updateState { $0[account.username]?.mayHaveUnknownTarget = true }
      let target: String
      do throws(UAFDeviceInformationChangeFailure) {
        target = try await makeTarget(of: entry, state, at: server, by: authorization)
      } catch {
        // A rejection says nothing about the result of an earlier request.
        if !error.isOpen, !entry.mayHaveUnknownTarget {
          try await updateState { $0[account.username]?.mayHaveUnknownTarget = false }
        }
        throw error
      }
      try await updateState {
        $0[account.username]?.target = target
        $0[account.username]?.mayHaveUnknownTarget = false
      }
      return nil
    } catch { return error }
  }

  private func updateState(
    _ body: @Sendable (inout UAFDeviceState) -> Void
  ) async throws(UAFDeviceInformationChangeFailure) {
    do throws(SignetError) { try await store.change(body) } catch { throw .device(error) }
  }

  /// Returns the stored state of this device.
  func requireState() async throws(UAFDeviceInformationChangeFailure) -> UAFDeviceState {
    do throws(SignetError) {
      if let state = try await store.state() { return state }
    } catch { throw .device(error) }
    throw .notFound
  }

  private func makeTarget(
    of entry: UAFDeviceState.Account, _ state: UAFDeviceState, at server: UAFServer,
    by authorization: UAFAuthorization?
  ) async throws(UAFDeviceInformationChangeFailure) -> String {
    var order: JSONObject
    do throws(SignetError) { order = try await self.order(of: entry, state) } catch {
      throw .device(error)
    }
    var mayClear = true
    while true {
      do throws(UAFNetworkProblem) {
        let answer = try await server.exchange(
          .post, server.url(server.configuration.dispatchTargetResourcePath), order.bytes, "application/json",
          accepting: "application/json", by: authorization)
        do throws(JSONFailure) { return try JSONObject(parsing: answer.body).string("id") } catch {
          throw server.problem(.malformed(error.description))
        }
      } catch {
        switch error.code {
        case "dispatcherUnavailable"? where order["dispatcher"] != nil: order["dispatcher"] = nil
        // The name may be in use by a target of this device from an interrupted registration.
        case "nameTaken"? where mayClear:
          guard try await deleteTargetsOfDevice(of: entry, state, at: server, by: authorization) else {
            throw .nameAlreadyExists(state.name)
          }
          mayClear = false
        default: throw UAFDeviceInformationChangeFailure(error, named: state.name)
        }
      }
    }
  }

  /// The dispatch target that this device asks a server to create.
  private func order(
    of entry: UAFDeviceState.Account, _ state: UAFDeviceState
  ) async throws(SignetError) -> JSONObject {
    let signing = try await store.signingKey(entry).publicKey
    let encryption = try await store.encryptionKey(entry).publicKey
    var order: JSONObject = [
      "username": .string(entry.account.username), "deviceId": .string(state.deviceID),
      "name": .string(state.name),
    ]
    do {
      order["signatureKey"] = .string(try JWK(signing).publicObject().text)
      let point = try P256.Signing.PublicKey(x963: encryption.x963Representation)
      order["encryptionKey"] = .string(try JWK(point).publicObject().text)
    } catch { preconditionFailure("a key of this device is not a public key: \(error)") }
    if let token = state.pushToken {
      order["target"] = .string(token)
      order["dispatcher"] = "firebase-cloud-messaging"
    }
    return order
  }

  /// Deletes all dispatch targets of this device for an account at a server; returns true if there were any.
  func deleteTargetsOfDevice(
    of entry: UAFDeviceState.Account, _ state: UAFDeviceState, at server: UAFServer,
    by authorization: UAFAuthorization?
  ) async throws(UAFDeviceInformationChangeFailure) -> Bool {
    let path = server.configuration.dispatchTargetResourcePath
    do throws(UAFNetworkProblem) {
      var list = server.url(path)
      while list.hasSuffix("/") { list.removeLast() }
      let answer = try await server.exchange(
        .get, "\(list)?username=\(PercentEncoding.encode(entry.account.username))",
        accepting: "application/json", by: authorization)
      let deviceTargets: [String]
      do throws(JSONFailure) { deviceTargets = try Self.targets(of: state.deviceID, in: answer.body) } catch {
        throw server.problem(.malformed(error.description))
      }
      for id in deviceTargets {
        _ = try await server.exchange(.delete, server.url(path, id), by: authorization)
      }
      return !deviceTargets.isEmpty
    } catch { throw UAFDeviceInformationChangeFailure(error, named: state.name) }
  }

  /// Parses the IDs of the dispatch targets that belong to a device.
  static func targets(of deviceID: String, in body: [UInt8]) throws(JSONFailure) -> [String] {
    let answer = try JSONObject(parsing: body, limits: JSONLimits(maximumByteCount: 1 << 20))
    var ids: [String] = []
    for case .object(let target) in try answer.array("dispatchTargets") {
      guard try target.optionalString("deviceId") == deviceID else { continue }
      ids.append(try target.string("id"))
    }
    return ids
  }
}

extension UAFDeviceInformationChangeFailure {
  /// Indicates whether the server may have carried out the request.
  fileprivate var isOpen: Bool {
    if case .network(let problem) = self { problem.isAmbiguous } else { false }
  }

  init(_ problem: UAFNetworkProblem, named name: String) {
    switch problem.code {
    case "nameTaken": self = .nameAlreadyExists(name)
    case "targetUnknown": self = .notFound
    case "clockSkewTooBig": self = .clockSkewTooBig(server: problem.server)
    default: self = .network(problem)
    }
  }

  init(_ failure: UAFDeviceServiceFailure, named name: String) {
    switch failure {
    case .clockSkewTooBig(let server): self = .clockSkewTooBig(server: server)
    case .network(let problem): self.init(problem, named: name)
    case .device(let failure): self = .device(failure)
    case .nameAlreadyExists(let name, _): self = .nameAlreadyExists(name)
    case .forbidden(let server): self = .forbidden(server: server)
    case .operationNotSupportedByBackend(let server): self = .operationNotSupportedByBackend(server: server)
    case .payload(let failure, let server):
      self = .network(UAFNetworkProblem(.malformed(failure.description), at: server))
    }
  }
}

extension UAFDeviceServiceFailure {
  init(_ failure: UAFDeviceInformationChangeFailure, at server: String) {
    switch failure {
    case .nameAlreadyExists(let name): self = .nameAlreadyExists(name, server: server)
    case .notFound:
      self = .network(UAFNetworkProblem(.malformed("the server does not know its own target"), at: server))
    case .device(let failure): self = .device(failure)
    case .clockSkewTooBig(let server): self = .clockSkewTooBig(server: server)
    case .forbidden(let server): self = .forbidden(server: server)
    case .operationNotSupportedByBackend(let server): self = .operationNotSupportedByBackend(server: server)
    case .network(let problem): self = .network(problem)
    }
  }
}
