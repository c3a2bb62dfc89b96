import SignetCrypto
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

/// What an authenticator signs the hash of: application, challenge, caller and channel.
package struct FinalChallengeParams: Hashable, Sendable {
  package let appID: String
  /// The server's challenge, 8 to 64 bytes.
  package let challenge: [UInt8]
  /// Who called the client.
  package let facetID: String
  package let channelBinding: ChannelBinding

  package init(
    appID: String, challenge: [UInt8], facetID: String, channelBinding: ChannelBinding = ChannelBinding()
  ) {
    self.appID = appID
    self.challenge = challenge
    self.facetID = facetID
    self.channelBinding = channelBinding
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    appID = try reader.string("appID", 1...512)
    challenge = try reader.bytes("challenge", 8...64)
    facetID = try reader.string("facetID", 1...512)
    channelBinding = try ChannelBinding(reader.dictionary("channelBinding"))
  }

  package var json: JSONObject {
    [
      "appID": .string(appID), "challenge": .string(Base64URL.encode(challenge)),
      "facetID": .string(facetID), "channelBinding": .object(channelBinding.json),
    ]
  }
}

/// The final challenge: the text as the client wrote it, which is what is hashed, and what it says.
///
/// It is never written again from what it says: clients put blanks, escapes and members as they like.
package struct FinalChallenge: Hashable, Sendable {
  /// Base64url of a JSON text, as it was received.
  package let text: String
  /// What it says.
  package let params: FinalChallengeParams

  /// Writes parameters, once.
  package init(_ params: FinalChallengeParams) {
    self.params = params
    text = Base64URL.encode(params.json.bytes)
  }

  /// Reads a text; base64url with or without padding.
  ///
  /// - Throws: ``MessageFailure`` that names the member below `fcParams`.
  package init(parsing text: String) throws(MessageFailure) {
    guard !text.isEmpty else { throw .member("fcParams", .empty) }
    guard text.utf8.count <= Self.maximumByteCount else {
      throw .member("fcParams", .tooLong(Self.maximumByteCount))
    }
    guard let bytes = Base64URL.decodePadded(text) else { throw .member("fcParams", .base64URL) }
    let object: JSONObject
    do throws(JSONFailure) { object = try JSONObject(parsing: bytes) } catch {
      throw .member("fcParams", .form)
    }
    params = try FinalChallengeParams(DictionaryReader(object, "fcParams"))
    self.text = text
  }

  /// The SHA-256 digest of the text as it was received.
  package var hash: [UInt8] { HashFunction.sha256.digest(of: text.utf8Span.span.bytes) }

  private static let maximumByteCount = 32_768
}
