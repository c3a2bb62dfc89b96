public import SignetJSON

/// A set of keys (RFC 7517 section 5); `kid` selects one of them.
public struct JWKSet: Sendable {
  /// The supported keys, in order.
  public let keys: [JWK]

  static let limits = JSONLimits(maximumDepth: 8, maximumByteCount: 262_144, maximumMemberCount: 16_384)

  /// Creates a set of keys.
  ///
  /// - Throws: ``JOSEFailure/duplicateKeyID``, because the selection would be ambiguous; ``JOSEFailure/mixedKeySet`` for
  ///   symmetric and public keys together, because they have different readers and a MAC could pass for a signature.
  public init(_ keys: [JWK]) throws(JOSEFailure) {
    let names = keys.compactMap(\.keyID)
    guard Set(names).count == names.count else { throw .duplicateKeyID }
    let symmetricCount = keys.count { $0.keyType == "oct" }
    guard symmetricCount == 0 || symmetricCount == keys.count else { throw .mixedKeySet }
    self.keys = keys
  }

  /// Parses a set from JSON text.
  ///
  /// - Throws: ``JOSEFailure`` for a malformed set.
  public init(parsing bytes: [UInt8]) throws(JOSEFailure) {
    let object: JSONObject
    do throws(JSONFailure) {
      object = try JSONObject(parsing: bytes, limits: Self.limits)
    } catch {
      throw .malformedKey(error)
    }
    try self.init(object)
  }

  /// Parses a set from a JSON object with the member `keys`.
  ///
  /// Unsupported and invalid keys are left out, as RFC 7517 section 5 specifies, so that a new kind of key does not make the
  /// others unusable. A `kid` must not be repeated, even in such a key.
  ///
  /// - Throws: ``JOSEFailure``; ``JOSEFailure/malformedKey(_:)`` unless `keys` is an array of objects.
  public init(_ object: JSONObject) throws(JOSEFailure) {
    let values: [JSONValue]
    do throws(JSONFailure) {
      values = try object.array("keys")
    } catch {
      throw .malformedKey(error)
    }
    var keys: [JWK] = []
    var keyIDs: Set<JSONValue> = []
    for value in values {
      guard case .object(let member) = value else {
        throw .malformedKey(.wrongType(member: "keys", expected: .object))
      }
      if let keyID = member["kid"], !keyIDs.insert(keyID).inserted { throw .duplicateKeyID }
      do throws(JOSEFailure) {
        keys.append(try JWK(member))
      } catch {
        continue  // left out, as documented above
      }
    }
    try self.init(keys)
  }

  /// Returns the key with this `kid`; `nil` if there is none.
  public func key(withID keyID: String) -> JWK? { keys.first { $0.keyID == keyID } }
}
