import SignetCrypto
import SignetStorage
import SignetWire

/// What devices have ended by themselves (`docs/protocol.md` section 3.6).
public struct EndService: Sendable {
  private let context: ServiceContext

  /// A service over a context.
  public init(_ context: ServiceContext) { self.context = context }

  /// Takes a device's word that it has ended a container; the same word again changes nothing.
  ///
  /// The word may be old: it was kept until the server could be reached. It may be about a container that an operator has
  /// revoked meanwhile, or that was never confirmed.
  ///
  /// - Parameter body: The request body.
  /// - Throws: ``Problem``.
  public func end(_ body: [UInt8]) async throws {
    let signed = try reading(SignedEndNotice(parsing: body))
    let found = try await context.storage.container(signed.container)
    guard let container = found else { throw Self.unknown }
    let key = try P256.Signing.PublicKey(x963: container.sessionKey)
    guard let notice = signed.notice(verifiedWith: key), notice.server == context.settings.serverURL else {
      throw Self.notOwn
    }
    // Erased with its user: nothing is left that could end, and the device need not say so again.
    guard !container.device.isEmpty else { throw Self.unknown }
    guard notice.device == container.device else { throw Self.notOwn }
    let audit = context.audit(by: .container(container.id))
    _ = try await context.storage.endContainer(
      container.id, as: notice.event.rawValue, audit: audit(Self.event(notice, of: container)),
      lost: context.losses(by: .container(container.id)))
  }

  private static let unknown = Problem(.containerUnknown, "There is no container of this id.")
  private static let notOwn = Problem(
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
