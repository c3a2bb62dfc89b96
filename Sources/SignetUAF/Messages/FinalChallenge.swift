import SignetCrypto
package import SignetJSON

/// The parameters of the final challenge: application, challenge, caller and channel.
package struct FinalChallengeParams: Hashable, Sendable {
  package let appID: String
  /// The server's challenge, 8 to 64 bytes.
  package let challenge: [UInt8]
  /// The caller of the client.
  package let facetID: String
  package let channelBinding: UAFChannelBinding

  package init(
    appID: String, challenge: [UInt8], facetID: String, channelBinding: UAFChannelBinding = .none
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
    channelBinding = try UAFChannelBinding(reader.dictionary("channelBinding"))
  }

  package var json: JSONObject {
    [
      "appID": .string(appID), "challenge": .string(Base64URL.encode(challenge)),
      "facetID": .string(facetID), "channelBinding": .object(channelBinding.json),
    ]
  }
}

/// The final challenge: the client's text, which is the hashed input, and its parsed content.
///
/// The text is never encoded again from the content: clients choose white space, escapes and the order of members.
package struct FinalChallenge: Hashable, Sendable {
  /// The base64url of a JSON text, as received.
  package let text: String
  package let params: FinalChallengeParams

  package init(_ params: FinalChallengeParams) {
    self.params = params
    text = Base64URL.encode(params.json.bytes)
  }

  /// Parses a text in base64url, with or without padding.
  ///
  /// - Throws: ``MessageFailure`` with the malformed member below `fcParams`.
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

  /// The SHA-256 digest of the text as received.
  package var hash: [UInt8] { unsafe HashFunction.sha256.digest(of: text.utf8Span.span.bytes) }

  private static let maximumByteCount = 32_768
}
