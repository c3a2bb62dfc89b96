import SignetHTTPClient
import SignetJSON
public import SignetProtocol
import SignetVault

extension Device {
  /// Fetches the push targets of a container, and the push services that its server supports.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Returns: The targets and the services.
  /// - Throws: ``SignetError``.
  public func pushTargets(
    of container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) -> PushTargetList {
    let answer = try await sendTarget(.get, "", [], container, authentication)
    do { return try PushTargetList(parsing: answer) } catch { throw .unexpectedAnswer(status: 200) }
  }

  /// Registers a push target for a container at its server.
  ///
  /// A push says that a transaction is pending, but not its content; ``pushed(_:by:)`` decodes it.
  ///
  /// - Parameters:
  ///   - target: The push target.
  ///   - name: The name for display: 0 to 128 plain characters on one line.
  ///   - container: The container.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Returns: The target's ID.
  /// - Throws: ``SignetError``; `refused` if the server does not support the service, or the container has four targets.
  @discardableResult
  public func addPushTarget(
    _ target: PushTarget, name: String = "", for container: Container,
    by authentication: Authentication? = nil
  ) async throws(SignetError) -> PushTargetID {
    let form = try Self.form(name, target)
    let answer = try await sendTarget(.post, "", form.bytes, container, authentication)
    do { return try PushTargetID(JSONObject(parsing: answer).string("id")) } catch {
      throw .unexpectedAnswer(status: 201)
    }
  }

  /// Changes a target's name, its address or both, for example after a new token of a push service.
  ///
  /// - Parameters:
  ///   - id: The target.
  ///   - name: Its new name; `nil` to keep the current one.
  ///   - target: Its new address; `nil` to keep the current one.
  ///   - container: The container.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Throws: ``SignetError``.
  public func changePushTarget(
    _ id: PushTargetID, name: String? = nil, target: PushTarget? = nil, for container: Container,
    by authentication: Authentication? = nil
  ) async throws(SignetError) {
    let form = try Self.form(name, target)
    _ = try await sendTarget(.patch, "/\(id.text)", form.bytes, container, authentication)
  }

  /// Deletes a push target at the server.
  ///
  /// - Parameters:
  ///   - id: The target.
  ///   - container: The container.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Throws: ``SignetError``.
  public func removePushTarget(
    _ id: PushTargetID, of container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) {
    _ = try await sendTarget(.delete, "/\(id.text)", [], container, authentication)
  }

  private static func form(_ name: String?, _ target: PushTarget?) throws(SignetError) -> PushTargetForm {
    do { return try PushTargetForm(name: name, target: target) } catch {
      throw .pushTargetRefused(error)
    }
  }

  private func sendTarget(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8], _ container: Container,
    _ authentication: Authentication?
  ) async throws(SignetError) -> [UInt8] {
    let key = try await unlock(container, key: .sessionTransport, by: authentication)
      .signingKey(VaultLayout.sessionKey, in: vault)
    return try await session(container).send(
      method, "/v1/device/push-targets" + path, body, signedBy: key, container: container.serverContainerID)
  }

  /// Decrypts a push and returns the container and the transaction's ID.
  ///
  /// A push is not authenticated: any holder of the device's public encryption key can make one. Fetch the list, and show
  /// only its content.
  ///
  /// - Parameters:
  ///   - text: The payload from the push service, a compact JWE.
  ///   - authentication: The credential of the session key; `nil` if the device opens it alone.
  /// - Returns: The container, and the ID of the transaction to look up in its list; `nil` if the text is not a push for this device.
  /// - Throws: ``SignetError``.
  public func pushed(
    _ text: String, by authentication: Authentication? = nil
  ) async throws(SignetError) -> (container: Container, transaction: TransactionID)? {
    guard let id = PushPayload.unverifiedContainer(of: text) else { return nil }
    guard let container = try await containers().first(where: { $0.serverContainerID == id }) else {
      return nil
    }
    let key = try await unlock(container, key: .sessionTransport, by: authentication)
      .agreementKey(VaultLayout.encryptionKey)
    do {
      let payload = try PushPayload(decrypting: text, with: key)
      guard payload.server == container.server else { return nil }
      return (container, payload.transaction)
    } catch { return nil }
  }
}
