import SignetVault

extension Device {
  /// Gives a container another name on this device; no network is used.
  ///
  /// - Parameters:
  ///   - container: Which one.
  ///   - name: What the user calls it; may be empty.
  /// - Returns: The container with that name.
  /// - Throws: ``SignetFailure``.
  @discardableResult
  public func rename(_ container: Container, to name: String) async throws(SignetFailure) -> Container {
    try await requireUnlocked(container)
    try await vaulted(await vault.renameContainer(container.id, to: name))
    return try await self.container(container.id)
  }

  /// Sets what a container trusts of its server from now on, as after the server has got other certificates; no network is used.
  ///
  /// It takes the place of what the container was activated with. What the server signs is verified as before.
  ///
  /// - Parameters:
  ///   - certificateAuthoritiesPEM: Trusted certificates in PEM; `nil` for those of ``connection``.
  ///   - pins: SHA-256 of acceptable keys of the server, 32 bytes each; empty for those of ``connection``.
  ///   - container: Whose server it is.
  /// - Throws: ``SignetFailure``: `transport` where these are no certificates or no pins; nothing is changed then.
  public func setTrust(
    certificateAuthoritiesPEM: String?, pins: [[UInt8]] = [], of container: Container
  ) async throws(SignetFailure) {
    try await requireUnlocked(container)
    let settings = ConnectionSettings(certificateAuthoritiesPEM: certificateAuthoritiesPEM, pins: pins)
    _ = try session(container.server, settings)  // refuses what no connection can be made with
    try await vaulted(await vault.setConnection(settings, of: container.id))
  }
}
