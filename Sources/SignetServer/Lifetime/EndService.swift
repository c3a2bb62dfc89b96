import SignetCrypto
import SignetProtocol
import SignetStorage

/// Notices of devices that have deleted a container themselves (`docs/protocol.md` section 3.6).
package struct EndService: Sendable {
  private let context: ServiceContext

  /// Creates the service of a context.
  package init(_ context: ServiceContext) { self.context = context }

  /// Verifies a device's notice and ends the container; the same notice again changes nothing.
  ///
  /// The notice may be old, since the device keeps it until it reaches the server. Its container may have been revoked by an
  /// operator in the meantime, or may never have been confirmed.
  ///
  /// - Parameter body: The request body.
  /// - Throws: ``Problem``.
  package func end(_ body: [UInt8]) async throws {
    let signed = try reading(SignedEndNotice(parsing: body))
    let found = try await context.storage.container(signed.container)
    guard let container = found else { throw Self.unknown }
    let key = try P256.Signing.PublicKey(x963: container.sessionKey)
    guard let notice = signed.notice(verifiedWith: key), notice.server == context.settings.serverURL else {
      throw Self.unauthorized
    }
    // The container was erased with its user, so nothing remains to end; the device need not send the notice again.
    guard !container.device.isEmpty else { throw Self.unknown }
    guard notice.device == container.device else { throw Self.unauthorized }
    let audit = context.audit(by: .container(container.id))
    _ = try await context.storage.endContainer(
      container.id, as: notice.event.rawValue, audit: audit(Self.event(notice, of: container)),
      lost: context.losses(by: .container(container.id)))
  }

  private static let unknown = Problem(.containerUnknown, "There is no container with this id.")
  private static let unauthorized = Problem(
    .unauthorized, "The notice is not signed by this container's session key.")

  private static func event(_ notice: EndNotice, of container: ContainerRecord) -> AuditEvent {
    let (user, id, reason, time) = (container.user, container.id, notice.reason, notice.time)
    return switch notice.event {
    case .deleted: .containerDeleted(user: user, container: id, reason: reason, deviceTime: time)
    case .reset: .containerReset(user: user, container: id, reason: reason, deviceTime: time)
    case .wiped: .containerWiped(user: user, container: id, reason: reason, deviceTime: time)
    }
  }
}
