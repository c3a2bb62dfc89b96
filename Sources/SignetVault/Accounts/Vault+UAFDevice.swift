import SignetSQLite

/// The device's identity for UAF servers: records in their own container, in a device-only domain.
extension Vault {
  package static let uafDeviceDomain = "device"

  /// The container of these records; `nil` if there is none.
  ///
  /// - Throws: ``VaultFailure``.
  package func uafDeviceContainer() throws(VaultFailure) -> LocalContainerID? {
    do {
      return try database.transaction(.deferred) { try only(.uafDevice, in: VaultState(from: tables)) }
    } catch { throw VaultFailure(error) }
  }

  /// Returns the container of these records; makes it if there is none.
  ///
  /// - Parameter created: The creation time, in milliseconds since 1970-01-01T00:00:00Z.
  /// - Returns: The container's identifier; of several concurrent processes, only one makes it.
  /// - Throws: ``VaultFailure``.
  package func makeUAFDeviceContainer(created: Int64) throws(VaultFailure) -> LocalContainerID {
    if let present = try uafDeviceContainer() { return present }
    let draft = ContainerDraft(
      attributes: ContainerAttributes(userID: "", server: "", name: "", serverID: ""), created: created,
      domains: [DomainDraft(name: Self.uafDeviceDomain, protection: .device, records: [])])
    return try add(draft, as: .uafDevice) { try only(.uafDevice, in: $0) }
  }
}
