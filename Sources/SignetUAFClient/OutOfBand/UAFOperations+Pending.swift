import SignetJSON

/// An operation that waits for this device at a server.
public struct PendingOutOfBandOperation: Hashable, Sendable {
  /// The server's ID of the operation; `nil` if it sends none.
  public let id: String?
  /// The time of the request, in milliseconds since 1970-01-01T00:00:00Z, by the server's clock.
  public let creationTimeInEpochMillis: Int64
  /// The server's name of the channel that delivered the operation.
  public let dispatchChannel: String
  /// The payload to redeem.
  public let payload: OutOfBandPayload
  /// Further members of the server's answer, as JSON text; `nil` for none.
  public let additionalInformation: String?
  /// The account that the operation is for.
  public let account: UAFAccount
}

/// The pending operations at all servers, with the failures.
public struct PendingOutOfBandOperations: Sendable {
  /// The pending operations, newest first.
  public let operations: [PendingOutOfBandOperation]
  /// The failures of servers that could not be queried, or whose operations could not be parsed.
  public let errors: [UAFDeviceServiceFailure]
}

extension UAFOperations {
  /// Queries all servers for pending operations, for example if a push message is late.
  ///
  /// - Returns: The pending operations, and the failures of servers that could not be queried.
  /// - Throws: ``SignetError`` if the vault of this device cannot be read.
  public func pendingOutOfBandOperations() async throws(SignetError) -> PendingOutOfBandOperations {
    let state = try await store.state()
    var (found, errors): ([PendingOutOfBandOperation], [UAFDeviceServiceFailure]) = ([], [])
    for entry in state?.accounts ?? [] {
      guard let state, entry.target != nil else { continue }
      do throws(UAFDeviceServiceFailure) {
        let waiting = try await operations(beyond: nil, of: entry, state)
        found += waiting?.operations ?? []
        errors += waiting?.errors ?? []
      } catch { errors.append(error) }
    }
    let sorted = found.sorted { $0.creationTimeInEpochMillis > $1.creationTimeInEpochMillis }
    return PendingOutOfBandOperations(operations: sorted, errors: errors)
  }

  /// Returns the pending operations at the server of an account as soon as they differ from the known ones.
  ///
  /// The server holds the request open for at most 50 seconds, and for 5 seconds less than the network time-out.
  ///
  /// - Returns: `nil` if nothing changed.
  private func operations(
    beyond previous: OperationsSnapshot?, of entry: UAFDeviceState.Account, _ state: UAFDeviceState
  ) async throws(UAFDeviceServiceFailure) -> OperationsSnapshot? {
    guard let target = entry.target else { return nil }
    var server = try deviceServer(of: entry.account)
    if let tag = previous?.tag {
      let wait = min(50, max(1, server.configuration.networkTimeoutSeconds - 5))
      server.headers += [("If-None-Match", tag), ("Prefer", "wait=\(wait)")]
    }
    let answer: (claims: JSONObject, tag: String?)
    do throws(UAFDeviceServiceFailure) {
      answer = try await fetchClaimsAndTag(
        server, server.url(server.configuration.deviceResourcePath + "oob-operations", state.deviceID),
        entry, target)
    } catch {
      if case .network(let problem) = error, problem.status == 304 { return nil }
      throw error
    }
    let listed: [JSONValue]
    do throws(JSONFailure) { listed = try answer.claims.array("operations") } catch {
      throw .network(server.problem(.malformed(error.description)))
    }
    var waiting = OperationsSnapshot(operations: [], errors: [], tag: answer.tag)
    for value in listed {
      do throws(UAFDeviceServiceFailure) {
        waiting.operations.append(try await pending(value, entry, server))
      } catch { waiting.errors.append(error) }
    }
    return waiting
  }

  /// Streams the pending operations at the server of an account, initially and after each change, until the stream is cancelled.
  ///
  /// Passing failures are retried with the waits of ``Device/liveTransactions(for:by:noting:)``.
  ///
  /// - Parameters:
  ///   - account: The account.
  ///   - notify: Receives the failure when the server becomes unreachable, and `nil` when it is reachable again.
  /// - Returns: The stream.
  package func livePending(
    of account: UAFAccount, noting notify: @escaping @Sendable (UAFDeviceServiceFailure?) -> Void
  ) -> AsyncThrowingStream<PendingOutOfBandOperations, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { stream in
      let task = Task {
        do throws(UAFDeviceServiceFailure) {
          try await device.follow(
            pausing: { try await Task.sleep(for: $0) }, waitingOut: { $0.mayPass }, noting: notify,
            asking: { (previous: OperationsSnapshot?) async throws(UAFDeviceServiceFailure) in
              try await operations(beyond: previous, of: account)
            }, isNew: { $0.operations != $1?.operations },
            handing: {
              stream.yield(PendingOutOfBandOperations(operations: $0.operations, errors: $0.errors))
            })
          stream.finish()
        } catch { stream.finish(throwing: error) }
      }
      stream.onTermination = { _ in task.cancel() }
    }
  }

  private func operations(
    beyond previous: OperationsSnapshot?, of account: UAFAccount
  ) async throws(UAFDeviceServiceFailure) -> OperationsSnapshot? {
    let state: UAFDeviceState?
    do throws(SignetError) { state = try await store.state() } catch { throw .device(error) }
    // An account that was deleted in the meantime has no pending operations.
    guard let state, let entry = state.accounts.first(where: { $0.account == account }) else {
      return OperationsSnapshot(operations: [], errors: [], tag: nil)
    }
    return try await operations(beyond: previous, of: entry, state)
  }

  /// Queries the end of an operation that is no longer pending.
  ///
  /// - Parameter operation: The operation.
  /// - Returns: The end; `nil` if it cannot be determined.
  package func end(of operation: PendingOutOfBandOperation) async -> RequestEnd? {
    guard let id = operation.id else { return nil }
    let body: JSONObject = ["sessionId": .string(id)]
    do {
      let server = try deviceServer(of: operation.account)
      let answer = try await server.exchange(
        .post, server.url("/status"), body.bytes, "application/json", accepting: "application/json")
      return try Self.end(in: answer.body)
    } catch { return nil }
  }

  /// Parses the end of an operation from its status.
  static func end(in body: [UInt8]) throws(JSONFailure) -> RequestEnd? {
    let status = try JSONObject(parsing: body)
    switch try status.optionalString("transactionStatus") {
    case "accepted"?, "denied"?, "reported"?: return .answered
    case "cancelled"?, "withdrawn"?: return .withdrawn
    case "expired"?: return .expired
    default: break
    }
    switch try status.optionalObject("tokenInformation")?.optionalString("tokenResult") {
    case "tokenRedeemed"?: return .answered
    case "tokenTimedOut"?: return .expired
    default: return nil
    }
  }

  private func pending(
    _ value: JSONValue, _ entry: UAFDeviceState.Account, _ server: UAFServer
  ) async throws(UAFDeviceServiceFailure) -> PendingOutOfBandOperation {
    let listed: ListedOperation
    do throws(JSONFailure) { listed = try ListedOperation(value) } catch {
      throw .network(server.problem(.malformed(error.description)))
    }
    do throws(UAFPayloadFailure) {
      return PendingOutOfBandOperation(
        id: listed.id, creationTimeInEpochMillis: listed.time, dispatchChannel: listed.channel,
        payload: try await decode(DeliveredPayload(json: listed.payload.bytes)),
        additionalInformation: listed.more.isEmpty ? nil : listed.more.text, account: entry.account)
    } catch {
      if case .device(let failure) = error { throw .device(failure) }
      throw .payload(error, server: server.name)
    }
  }
}

/// An operation in a server's list, before its payload is decrypted.
struct ListedOperation: Sendable {
  let id: String?
  let time: Int64
  let channel: String
  let payload: JSONObject
  /// The members that this version does not know.
  let more: JSONObject

  init(_ value: JSONValue) throws(JSONFailure) {
    guard case .object(var object) = value else { throw .notAnObject }
    (id, time, channel) = (
      try object.optionalString("id"), try object.integer("creationTimeInEpochMillis"),
      try object.optionalString("dispatchChannel") ?? ""
    )
    payload = try object.object("payload")
    for name in ["id", "creationTimeInEpochMillis", "dispatchChannel", "payload"] { object[name] = nil }
    more = object
  }
}

/// The pending operations at one server, with the `ETag` of the list.
private struct OperationsSnapshot: Sendable {
  var operations: [PendingOutOfBandOperation]
  var errors: [UAFDeviceServiceFailure]
  /// The `ETag` of the list; `nil` if the server sent none, then the next query cannot wait for a change.
  let tag: String?
}
