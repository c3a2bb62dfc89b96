package import SignetCrypto
import SignetJSON

/// The key of a client's channel id in the form of `cid_pubkey`: base64url of a P-256 JSON Web Key.
package struct ChannelIDKey: Hashable, Sendable {
  package let publicKey: P256.Signing.PublicKey

  package init(_ publicKey: P256.Signing.PublicKey) { self.publicKey = publicKey }

  /// Parses the text of `cid_pubkey`; `unused` is no key.
  ///
  /// - Throws: ``MessageFailure`` with the malformed member below `cid_pubkey`.
  package init(parsing text: String) throws(MessageFailure) {
    guard text.utf8.count <= 1024, let bytes = Base64URL.decodePadded(text) else {
      throw .member("cid_pubkey", .base64URL)
    }
    let object: JSONObject
    do throws(JSONFailure) { object = try JSONObject(parsing: bytes) } catch {
      throw .member("cid_pubkey", .form)
    }
    let reader = DictionaryReader(object, "cid_pubkey")
    guard try reader.string("kty") == "EC" else { throw reader.failure("kty", .value) }
    guard try reader.string("crv") == "P-256" else { throw reader.failure("crv", .value) }
    let (x, y) = (try reader.bytes("x", 32...32), try reader.bytes("y", 32...32))
    do throws(CryptoFailure) { publicKey = try P256.Signing.PublicKey(x: x, y: y) } catch {
      throw reader.failure("x", .value)
    }
  }

  /// The text of `cid_pubkey`.
  package var text: String {
    let object: JSONObject = [
      "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(publicKey.x)),
      "y": .string(Base64URL.encode(publicKey.y)),
    ]
    return Base64URL.encode(object.bytes)
  }
}
