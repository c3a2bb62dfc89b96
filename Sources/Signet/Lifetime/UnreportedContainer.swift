public import SignetProtocol
import SignetVault

/// A container that has ended on this device without a signed notice; its operator must revoke it.
public struct UnreportedContainer: Sendable, Hashable {
  /// The user; empty if unreadable.
  public let user: String
  /// The server, as `host[:port]/domain`; empty if unreadable.
  public let server: String
  /// The server's ID of the container; `nil` if unreadable or written by a newer version.
  public let serverContainerID: ContainerID?
  /// Indicates whether these attributes are authentic; otherwise the vault's folder was altered and they may be forged.
  public let isAuthentic: Bool

  init(_ stored: StoredContainer) {
    self.init(stored.attributes, isAuthentic: true)
  }

  /// Creates an entry for an altered container.
  ///
  /// - Parameter claims: The unauthenticated attributes; `nil` if unreadable.
  init(altered claims: ContainerAttributes?) {
    self.init(
      claims ?? ContainerAttributes(userID: "", server: "", name: "", serverID: ""), isAuthentic: false)
  }

  private init(_ attributes: ContainerAttributes, isAuthentic: Bool) {
    user = attributes.userID
    server = attributes.server
    let binding: ContainerBinding?
    do { binding = try ContainerBinding(parsing: attributes.protocolParameters) } catch { binding = nil }
    serverContainerID = binding?.serverContainerID
    self.isAuthentic = isAuthentic
  }
}
