import CCurl

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The settings shared by all transfers of one transport, in libcurl's form.
struct TransferSettings: Sendable {
  let maximumBodyByteCount: Int
  let maximumHeaderByteCount: Int
  let maximumConnections: Int
  private let certificateAuthorities: [UInt8]?
  private let systemRootsFolder: String?
  private let pinnedKeys: String?
  private let proxy: ProxySetting
  let version: HTTPVersion
  let connectEntries: [String]

  init(_ configuration: ConnectionConfiguration, systemRootsFolder: String?) {
    maximumBodyByteCount = configuration.maximumResponseByteCount
    maximumHeaderByteCount = configuration.maximumHeaderByteCount
    maximumConnections = configuration.maximumConnections
    certificateAuthorities = configuration.certificateAuthoritiesPEM.map { Array($0.utf8) }
    let pins = configuration.pins.map { "sha256//\(Data($0).base64EncodedString())" }
    pinnedKeys = pins.isEmpty ? nil : pins.joined(separator: ";")
    proxy = configuration.proxy
    version = configuration.version
    connectEntries = configuration.connectAddress.map { [$0.entry] } ?? []
    self.systemRootsFolder = systemRootsFolder
  }

  /// Sets every option of a transfer that does not depend on the request.
  func apply(to easy: borrowing EasyHandle) throws(TransportFailure) {
    try applyTLS(to: easy)
    try applyTrust(to: easy)
    try easy.set(CURLOPT_PROTOCOLS_STR, "https")
    try easy.set(CURLOPT_REDIR_PROTOCOLS_STR, "https")
    try easy.set(CURLOPT_FOLLOWLOCATION, 0)
    try easy.set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    try easy.set(CURLOPT_PATH_AS_IS, 1)  // a signed path must arrive unchanged
    try apply(version, to: easy)
    try easy.set(CURLOPT_HTTP09_ALLOWED, 0)
    try easy.set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    try easy.set(CURLOPT_NOPROGRESS, 1)
    try easy.set(CURLOPT_NOSIGNAL, 1)
    // Below the 15 s after which servers usually close idle connections: a close rarely coincides with a reuse.
    try easy.set(CURLOPT_MAXAGE_CONN, 10)
    // Without this, removing a transfer waits for its name lookup and blocks all other transfers.
    try easy.set(CURLOPT_QUICK_EXIT, 1)
    try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    switch proxy {
    case .none: try easy.set(CURLOPT_PROXY, "")  // the empty string also disables the environment's proxy
    case .environment: break
    case .address(let address): try easy.set(CURLOPT_PROXY, address)
    }
  }

  private func apply(_ version: HTTPVersion, to easy: borrowing EasyHandle) throws(TransportFailure) {
    switch version {
    case .http1: try easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    case .http2:
      try easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
      try easy.set(CURLOPT_PIPEWAIT, 1)  // prefers waiting for a new shared connection
    }
  }

  private func applyTLS(to easy: borrowing EasyHandle) throws(TransportFailure) {
    try easy.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)  // the minimum version
    try easy.set(CURLOPT_SSL_CIPHER_LIST, Self.tls12Suites)
    try easy.set(CURLOPT_TLS13_CIPHERS, Self.tls13Suites)
    try easy.set(CURLOPT_SSL_VERIFYPEER, 1)
    try easy.set(CURLOPT_SSL_VERIFYHOST, 2)
  }

  private func applyTrust(to easy: borrowing EasyHandle) throws(TransportFailure) {
    if let systemRootsFolder { try easy.set(CURLOPT_CAPATH, systemRootsFolder) }
    if let certificateAuthorities {
      // The blob would be added to the system's folder, because libcurl ignores only the file.
      try easy.clear(CURLOPT_CAPATH)
      try easy.clear(CURLOPT_CAINFO)
      try easy.setBlob(CURLOPT_CAINFO_BLOB, certificateAuthorities)
    }
    if let pinnedKeys { try easy.set(CURLOPT_PINNEDPUBLICKEY, pinnedKeys) }
  }

  /// The suites of RFC 9325 section 4.2, in OpenSSL's names (`openssl-ciphers(1)`).
  private static let tls12Suites = [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
  ].joined(separator: ":")

  /// The suites of RFC 8446 appendix B.4 without CCM.
  private static let tls13Suites = [
    "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
  ].joined(separator: ":")
}
