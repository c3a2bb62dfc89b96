package import SignetJSON

/// How a message is tied to the TLS connection; empty where it is not.
package struct ChannelBinding: Hashable, Sendable {
  /// Base64url of the hash of the server's certificate (RFC 5929 section 4).
  package var serverEndPoint: String?
  /// Base64url of the server's certificate in DER; empty where it cannot be found out.
  package var tlsServerCertificate: String?
  /// Base64url of the TLS channel's first Finished message (RFC 5929 section 3); deprecated.
  package var tlsUnique: String?
  /// Base64url of the client's channel id key, or `unused`.
  package var channelIDPublicKey: String?

  package init(
    serverEndPoint: String? = nil, tlsServerCertificate: String? = nil, tlsUnique: String? = nil,
    channelIDPublicKey: String? = nil
  ) {
    self.serverEndPoint = serverEndPoint
    self.tlsServerCertificate = tlsServerCertificate
    self.tlsUnique = tlsUnique
    self.channelIDPublicKey = channelIDPublicKey
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    // Clients that have nothing to say write empty texts, or null.
    let reader = reader.withoutNull(["serverEndPoint", "tlsServerCertificate", "tlsUnique", "cid_pubkey"])
    serverEndPoint = try reader.optionalString("serverEndPoint", 0...1024)
    tlsServerCertificate = try reader.optionalString("tlsServerCertificate", 0...16_384)
    tlsUnique = try reader.optionalString("tlsUnique", 0...1024)
    channelIDPublicKey = try reader.optionalString("cid_pubkey", 0...1024)
  }

  package var isEmpty: Bool { self == ChannelBinding() }

  package var json: JSONObject {
    var object = JSONObject()
    object.setOptional("serverEndPoint", serverEndPoint.map { .string($0) })
    object.setOptional("tlsServerCertificate", tlsServerCertificate.map { .string($0) })
    object.setOptional("tlsUnique", tlsUnique.map { .string($0) })
    object.setOptional("cid_pubkey", channelIDPublicKey.map { .string($0) })
    return object
  }
}
