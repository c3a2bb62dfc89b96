public import SignetJSON

/// A set of keys (RFC 7517 section 5), from which `kid` selects one.
public struct JWKSet: Sendable {
  /// The keys that were understood, in order.
  public let keys: [JWK]

  static let limits = JSONLimits(maximumDepth: 8, maximumByteCount: 262_144, maximumMemberCount: 16_384)

  /// Makes a set of keys.
  ///
  /// - Throws: ``JOSEFailure/duplicateKeyID``, as the choice between two keys would be chance, and
  ///   ``JOSEFailure/mixedKeySet`` for symmetric and public keys together, as those go to different readers.
  public init(_ keys: [JWK]) throws(JOSEFailure) {
    let names = keys.compactMap(\.keyID)
    guard Set(names).count == names.count else { throw .duplicateKeyID }
    let symmetricCount = keys.count { $0.keyType == "oct" }
    guard symmetricCount == 0 || symmetricCount == keys.count else { throw .mixedKeySet }
    self.keys = keys
  }

  /// Reads a set from JSON text.
  ///
  /// - Throws: ``JOSEFailure``.
  public init(parsing bytes: [UInt8]) throws(JOSEFailure) {
    let object: JSONObject
    do throws(JSONFailure) {
      object = try JSONObject(parsing: bytes, limits: Self.limits)
    } catch {
      throw .malformedKey(error)
    }
    try self.init(object)
  }

  /// Reads a set from a JSON object with the member `keys`.
  ///
  /// Keys that are not understood or not valid are left out, as RFC 7517 section 5 says, so that one new kind of
  /// key does not make the others useless. A `kid` must still not be repeated, whichever keys have it.
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
        continue  // left out: see above
      }
    }
    try self.init(keys)
  }

  /// The key with this `kid`, or nil.
  public func key(withID keyID: String) -> JWK? { keys.first { $0.keyID == keyID } }
}
