import SignetSQLite

/// What a device is to servers of UAF: records in a container of their own, which the device alone opens.
extension Vault {
  /// The domain that holds them.
  package static let uafDeviceDomain = "device"

  /// The container that holds them; `nil` as long as there is none.
  ///
  /// - Throws: ``VaultFailure``.
  package func uafDeviceContainer() throws(VaultFailure) -> ContainerID? {
    do {
      return try database.transaction(.deferred) { try only(.uafDevice, in: VaultState(from: tables)) }
    } catch { throw VaultFailure(error) }
  }

  /// The container that holds them; it is made if there is none.
  ///
  /// - Parameter created: When it was made, in milliseconds since 1970-01-01T00:00:00Z.
  /// - Returns: The name of the container; of several processes that do this at once, one makes it.
  /// - Throws: ``VaultFailure``.
  package func makeUAFDeviceContainer(created: Int64) throws(VaultFailure) -> ContainerID {
    if let present = try uafDeviceContainer() { return present }
    let draft = ContainerDraft(
      attributes: ContainerAttributes(userID: "", server: "", name: "", serverID: ""), created: created,
      domains: [DomainDraft(name: Self.uafDeviceDomain, protection: .device, records: [])])
    return try add(draft, as: .uafDevice) { try only(.uafDevice, in: $0) }
  }
}
