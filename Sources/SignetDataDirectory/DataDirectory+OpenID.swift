import SignetHTTPClient

extension DataDirectory {
  /// Creates the transport for notifications to OpenID Connect clients.
  ///
  /// - Throws: ``DataDirectoryFailure``.
  func noticeTransport() throws(DataDirectoryFailure) -> any HTTPTransport {
    var connection = ConnectionConfiguration(
      timeoutSeconds: 20, maximumResponseByteCount: 64 << 10, maximumConnections: 32, proxy: .environment)
    if let authority = settings.openIDAuthority {
      connection.certificateAuthoritiesPEM = try text(authority, .plain, of: "openID.authority")
    }
    do { return try CurlTransport(connection) } catch { throw unusable("openID", error) }
  }
}
