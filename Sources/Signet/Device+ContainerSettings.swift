import SignetVault

extension Device {
  /// Renames a container on this device; no network is used.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - name: The user's name for it; may be empty.
  /// - Returns: The renamed container.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func rename(_ container: Container, to name: String) async throws(SignetError) -> Container {
    try await requireUnlocked(container)
    try await vaulted(await vault.renameContainer(container.id, to: name))
    return try await self.container(container.id)
  }

  /// Replaces the trusted certificates and pins of a container, for example after the server has new certificates; no network is used.
  ///
  /// They replace those from the activation. The server's signatures are still verified.
  ///
  /// - Parameters:
  ///   - certificateAuthoritiesPEM: Trusted certificates in PEM; `nil` for those of ``connection``.
  ///   - pins: SHA-256 of acceptable keys of the server, 32 bytes each; empty for those of ``connection``.
  ///   - container: The container.
  /// - Throws: ``SignetError``: `transport` for invalid certificates or pins; nothing is changed then.
  public func setTrust(
    certificateAuthoritiesPEM: String?, pins: [[UInt8]] = [], of container: Container
  ) async throws(SignetError) {
    try await requireUnlocked(container)
    let settings = ServerTrust(certificateAuthoritiesPEM: certificateAuthoritiesPEM, pins: pins)
    _ = try session(container.server, settings)  // rejects settings that allow no connection
    try await vaulted(await vault.setConnection(settings, of: container.id))
  }
}
