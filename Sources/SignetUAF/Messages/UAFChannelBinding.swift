package import SignetJSON

/// The binding of a message to its TLS connection; a member that is `nil` is absent.
public struct UAFChannelBinding: Hashable, Sendable {
  /// Base64url of the hash of the server's certificate (RFC 5929 section 4).
  public var serverEndPoint: String?
  /// Base64url of the server's certificate in DER; empty if the client cannot determine it.
  public var tlsServerCertificate: String?
  /// Base64url of the first Finished message of the channel (RFC 5929 section 3); deprecated.
  public var tlsUnique: String?
  /// Base64url of the client's channel id key, or `unused`.
  public var channelIDPublicKey: String?

  /// No binding: an empty object.
  public static let none = UAFChannelBinding()

  /// Creates a binding of the known members.
  ///
  /// - Parameters:
  ///   - serverEndPoint: Base64url of the hash of the server's certificate.
  ///   - tlsServerCertificate: Base64url of the server's certificate in DER.
  ///   - tlsUnique: Base64url of the first Finished message of the channel.
  ///   - channelIDPublicKey: Base64url of the client's channel id key, or `unused`.
  public init(
    serverEndPoint: String? = nil, tlsServerCertificate: String? = nil, tlsUnique: String? = nil,
    channelIDPublicKey: String? = nil
  ) {
    self.serverEndPoint = serverEndPoint
    self.tlsServerCertificate = tlsServerCertificate
    self.tlsUnique = tlsUnique
    self.channelIDPublicKey = channelIDPublicKey
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    // Clients without a binding write empty texts or null.
    let reader = reader.withoutNull(["serverEndPoint", "tlsServerCertificate", "tlsUnique", "cid_pubkey"])
    serverEndPoint = try reader.optionalString("serverEndPoint", 0...1024)
    tlsServerCertificate = try reader.optionalString("tlsServerCertificate", 0...16_384)
    tlsUnique = try reader.optionalString("tlsUnique", 0...1024)
    channelIDPublicKey = try reader.optionalString("cid_pubkey", 0...1024)
  }

  package var isEmpty: Bool { self == .none }

  package var json: JSONObject {
    var object = JSONObject()
    object.setOptional("serverEndPoint", serverEndPoint.map { .string($0) })
    object.setOptional("tlsServerCertificate", tlsServerCertificate.map { .string($0) })
    object.setOptional("tlsUnique", tlsUnique.map { .string($0) })
    object.setOptional("cid_pubkey", channelIDPublicKey.map { .string($0) })
    return object
  }
}
