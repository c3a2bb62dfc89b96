import SignetJSON
import SignetTransport
import SignetVault
public import SignetWire

extension Device {
  /// Where pushes for a container go, and by which services its server sends any.
  ///
  /// - Parameters:
  ///   - container: Whose.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  /// - Returns: The targets and the services.
  /// - Throws: ``SignetFailure``.
  public func pushTargets(
    of container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> PushTargetList {
    let answer = try await sendTarget(.get, "", [], container, authentication)
    do { return try PushTargetList(parsing: answer) } catch { throw .unexpectedAnswer(status: 200) }
  }

  /// Lets the server send pushes for a container to a target.
  ///
  /// A push says that something waits, never what: ``pushed(_:)`` reads it.
  ///
  /// - Parameters:
  ///   - target: Where to.
  ///   - name: What the user calls it: 0 to 128 plain characters on one line.
  ///   - container: Whose.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  /// - Returns: The target's id.
  /// - Throws: ``SignetFailure``; `refused` where the server has not set the service up, or the container has four targets.
  @discardableResult
  public func addPushTarget(
    _ target: PushTarget, name: String = "", for container: Container,
    by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> PushTargetID {
    let form = try Self.form(name, target)
    let answer = try await sendTarget(.post, "", form.bytes, container, authentication)
    do { return try PushTargetID(JSONObject(parsing: answer).string("id")) } catch {
      throw .unexpectedAnswer(status: 201)
    }
  }

  /// Changes a target's name, where it goes, or both, as after a new token of a push service.
  ///
  /// - Parameters:
  ///   - id: The target.
  ///   - name: Its new name; `nil` to keep it.
  ///   - target: Where pushes go from now on; `nil` to keep it.
  ///   - container: Whose.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  /// - Throws: ``SignetFailure``.
  public func changePushTarget(
    _ id: PushTargetID, name: String? = nil, target: PushTarget? = nil, for container: Container,
    by authentication: Authentication? = nil
  ) async throws(SignetFailure) {
    let form = try Self.form(name, target)
    _ = try await sendTarget(.patch, "/\(id.text)", form.bytes, container, authentication)
  }

  /// Lets the server forget a target.
  ///
  /// - Parameters:
  ///   - id: The target.
  ///   - container: Whose.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  /// - Throws: ``SignetFailure``.
  public func removePushTarget(
    _ id: PushTargetID, of container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) {
    _ = try await sendTarget(.delete, "/\(id.text)", [], container, authentication)
  }

  private static func form(_ name: String?, _ target: PushTarget?) throws(SignetFailure) -> PushTargetForm {
    do { return try PushTargetForm(name: name, target: target) } catch {
      throw .pushTargetRefused(error)
    }
  }

  private func sendTarget(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8], _ container: Container,
    _ authentication: Authentication?
  ) async throws(SignetFailure) -> [UInt8] {
    let key = try await unlock(container, key: .sessionTransport, by: authentication)
      .signingKey(VaultLayout.sessionKey, in: vault)
    return try await session(container).send(
      method, "/v1/device/push-targets" + path, body, signedBy: key, container: container.serverMadeID)
  }

  /// Reads a push: which container has something, and what the transaction's id is.
  ///
  /// A push is not proof of anything: whoever knows the device's encryption key can make one. So fetch the list, and show
  /// what is in that.
  ///
  /// - Parameters:
  ///   - text: What the push service handed over, a compact JWE.
  ///   - authentication: What opens the session key; `nil` where the device alone does.
  /// - Returns: The container, and the transaction to look for in its list; `nil` for anything but a push for this device.
  /// - Throws: ``SignetFailure``.
  public func pushed(
    _ text: String, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> (container: Container, transaction: TransactionID)? {
    guard let id = PushPayload.unverifiedContainer(of: text) else { return nil }
    guard let container = try await containers().first(where: { $0.serverMadeID == id }) else { return nil }
    let key = try await unlock(container, key: .sessionTransport, by: authentication)
      .agreementKey(VaultLayout.encryptionKey)
    do {
      let payload = try PushPayload(decrypting: text, with: key)
      guard payload.server == container.server else { return nil }
      return (container, payload.transaction)
    } catch { return nil }
  }
}
