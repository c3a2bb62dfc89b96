import SignetJSON

/// An operation that waits for this device.
public struct PendingOutOfBandOperation: Hashable, Sendable {
  /// What the server calls it; `nil` where it does not say.
  public let id: String?
  /// When it was asked for, in milliseconds since 1970-01-01T00:00:00Z, by the server's clock.
  public let creationTimeInEpochMillis: Int64
  /// How the server has sent it.
  public let dispatchChannel: String
  /// What to redeem.
  public let payload: OutOfBandPayload
  /// What else the server says, as JSON text; `nil` for nothing.
  public let additionalInformation: String?
  /// Whom it is for.
  public let account: UAFAccount
}

/// What waits at all servers, and which could not be asked.
public struct PendingOutOfBandOperations: Sendable {
  /// What waits, newest first.
  public let operations: [PendingOutOfBandOperation]
  /// Why servers could not be asked, or what they have could not be read.
  public let errors: [UAFDeviceServiceFailure]
}

extension UAFOperations {
  /// Asks all servers what waits for this device, as when a push is late.
  ///
  /// - Returns: What waits, and which servers could not be asked.
  /// - Throws: ``UAFDeviceServiceFailure`` where this device itself cannot be read.
  public func pendingOutOfBandOperations() async throws(UAFDeviceServiceFailure)
    -> PendingOutOfBandOperations
  {
    let state: UAFDeviceState?
    do throws(SignetFailure) { state = try await store.state() } catch { throw .device(error) }
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

  /// What waits at the server of an account, as soon as it is something else than what is known.
  ///
  /// The request is kept open at the server for 50 seconds at most, or 5 seconds less than it may take.
  ///
  /// - Returns: `nil` where it stayed as it was.
  private func operations(
    beyond known: KnownOperations?, of entry: UAFDeviceState.Account, _ state: UAFDeviceState
  ) async throws(UAFDeviceServiceFailure) -> KnownOperations? {
    guard let target = entry.target else { return nil }
    var server = try deviceServer(of: entry.account)
    if let tag = known?.tag {
      let wait = min(50, max(1, server.configuration.networkTimeoutSeconds - 5))
      server.headers += [("If-None-Match", tag), ("Prefer", "wait=\(wait)")]
    }
    let answer: (claims: JSONObject, tag: String?)
    do throws(UAFDeviceServiceFailure) {
      answer = try await answered(
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
    var waiting = KnownOperations(operations: [], errors: [], tag: answer.tag)
    for value in listed {
      do throws(UAFDeviceServiceFailure) {
        waiting.operations.append(try await pending(value, entry, server))
      } catch { waiting.errors.append(error) }
    }
    return waiting
  }

  /// What waits at the server of an account, now and after each change, for as long as it is asked for.
  ///
  /// Trouble is waited out as by ``Device/liveTransactions(for:by:noting:)``.
  ///
  /// - Parameters:
  ///   - account: Whose.
  ///   - note: Is told when the server is not reached any more, and with `nil` when it is again.
  /// - Returns: What waits.
  package func livePending(
    of account: UAFAccount, noting note: @escaping @Sendable (UAFDeviceServiceFailure?) -> Void
  ) -> AsyncThrowingStream<PendingOutOfBandOperations, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { stream in
      let task = Task {
        do throws(UAFDeviceServiceFailure) {
          try await device.follow(
            pausing: { try await Task.sleep(for: $0) }, waitingOut: { $0.mayPass }, noting: note,
            asking: { (known: KnownOperations?) async throws(UAFDeviceServiceFailure) in
              try await operations(beyond: known, of: account)
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
    beyond known: KnownOperations?, of account: UAFAccount
  ) async throws(UAFDeviceServiceFailure) -> KnownOperations? {
    let state: UAFDeviceState?
    do throws(SignetFailure) { state = try await store.state() } catch { throw .device(error) }
    // An account that was forgotten meanwhile has nothing that waits.
    guard let state, let entry = state.accounts.first(where: { $0.account == account }) else {
      return KnownOperations(operations: [], errors: [], tag: nil)
    }
    return try await operations(beyond: known, of: entry, state)
  }

  /// How an operation that waits no more has ended.
  ///
  /// - Parameter operation: The operation.
  /// - Returns: `nil` where that cannot be found out.
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

  /// Reads from the status of an operation how it has ended.
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

/// An operation as a server lists it, before its payload is decrypted.
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

/// What waits at one server, and what the server knows it by.
private struct KnownOperations: Sendable {
  var operations: [PendingOutOfBandOperation]
  var errors: [UAFDeviceServiceFailure]
  /// The server's name for it; `nil` where it gave none, so that there is nothing to wait beyond.
  let tag: String?
}
