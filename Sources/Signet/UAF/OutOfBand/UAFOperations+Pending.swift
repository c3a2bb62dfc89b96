import SignetJSON

/// An operation that waits for this device.
public struct PendingOutOfBandOperation: Hashable, Sendable {
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
      guard let state, let target = entry.target else { continue }
      do throws(UAFDeviceServiceFailure) {
        let server = try deviceServer(of: entry.account)
        let claims = try await asked(
          server, server.url(server.configuration.deviceResourcePath + "oob-operations", state.deviceID),
          entry, target)
        let listed: [JSONValue]
        do throws(JSONFailure) { listed = try claims.array("operations") } catch {
          throw .network(server.problem(.malformed(error.description)))
        }
        for value in listed {
          do throws(UAFDeviceServiceFailure) { found.append(try await pending(value, entry, server)) } catch {
            errors.append(error)
          }
        }
      } catch { errors.append(error) }
    }
    let sorted = found.sorted { $0.creationTimeInEpochMillis > $1.creationTimeInEpochMillis }
    return PendingOutOfBandOperations(operations: sorted, errors: errors)
  }

  private func pending(
    _ value: JSONValue, _ entry: UAFDeviceState.Account, _ server: UAFServer
  ) async throws(UAFDeviceServiceFailure) -> PendingOutOfBandOperation {
    let (time, channel, payload, more): (Int64, String, JSONObject, JSONObject)
    do throws(JSONFailure) {
      guard case .object(var object) = value else { throw .notAnObject }
      (time, channel) = (
        try object.integer("creationTimeInEpochMillis"), try object.optionalString("dispatchChannel") ?? ""
      )
      payload = try object.object("payload")
      for name in ["creationTimeInEpochMillis", "dispatchChannel", "payload"] { object[name] = nil }
      more = object
    } catch { throw .network(server.problem(.malformed(error.description))) }
    do throws(UAFPayloadFailure) {
      return PendingOutOfBandOperation(
        creationTimeInEpochMillis: time, dispatchChannel: channel,
        payload: try await decode(DeliveredPayload(json: payload.bytes)),
        additionalInformation: more.isEmpty ? nil : more.text, account: entry.account)
    } catch {
      if case .device(let failure) = error { throw .device(failure) }
      throw .payload(error, server: server.name)
    }
  }
}
