import SignetHTTPClient
import SignetJOSE
import SignetJSON
package import SignetProtocol
import SignetStorage
import SignetSystem

/// An operator's data of a new client.
package struct ClientRegistration: Sendable {
  static let maximumKeyCount = 16

  /// The name that users see as the requester.
  let name: String
  let authentication: ClientRecord.Authentication
  let delivery: ClientRecord.Delivery
  /// The URL for notifications; `nil` for a client that polls.
  let notificationEndpoint: String?
  /// The only signature algorithm of its requests; `nil` if they are not signed.
  let requestAlgorithm: String?
  /// The number of digits of the number that the client shows; `nil` for none.
  let numberDigits: Int?
  /// Its public keys, a JWK Set; `nil` for none.
  package let keySet: [UInt8]?

  /// Validates an operator's request.
  ///
  /// - Throws: `Problem` with the reason.
  package init(_ body: NewClient) throws(Problem) {
    (name, authentication, delivery) = (body.name, body.authentication, body.delivery)
    do throws(WireFailure) { _ = try UserID(name) } catch {
      throw Problem(
        .malformed, "the name of a client must have 1 to 128 characters, without control characters")
    }
    notificationEndpoint = body.notificationEndpoint
    guard (delivery == .poll) == (notificationEndpoint == nil) else {
      throw Problem(.malformed, "\"notificationEndpoint\" goes with \"ping\" and \"push\", which need it")
    }
    guard notificationEndpoint.map(Self.isEndpoint) ?? true else {
      throw Problem(
        .malformed, "\"notificationEndpoint\" is an absolute https URL of at most 1024 characters")
    }
    numberDigits = body.numberDigits.map { Int($0) }
    let keys = try body.jwks.map { object throws(Problem) in try Self.keys(object) }
    requestAlgorithm = try body.requestAlgorithm.map { name throws(Problem) in
      try Self.algorithm(name, of: keys).rawValue
    }
    guard authentication != .privateKeyJWT || keys != nil else {
      throw Problem(.malformed, "\"private_key_jwt\" needs \"jwks\": the client's JWK Set")
    }
    keySet = try keys.map { set throws(Problem) in try Self.text(of: set) }
  }

  private static func isEndpoint(_ url: String) -> Bool {
    url.hasPrefix("https://") && url.utf8.count <= 1_024 && HTTPSURL(url) != nil
  }

  /// Returns the keys.
  ///
  /// Each must be of a known type, public, and usable with a supported signature algorithm.
  private static func keys(_ object: JSONObject) throws(Problem) -> JWKSet {
    let listed = try reading(object.array("keys"))
    guard (1...maximumKeyCount).contains(listed.count) else {
      throw Problem(.malformed, "\"jwks\" has 1 to \(maximumKeyCount) keys")
    }
    for case .object(let key) in listed where ["d", "k", "p", "q"].contains(where: key.contains) {
      throw Problem(.malformed, "a key in \"jwks\" is private; send its public part")
    }
    let set: JWKSet
    do throws(JOSEFailure) {
      set = try JWKSet(object)
      let usable = Set(OpenIDNames.clientAlgorithms)
      for key in set.keys {
        guard try !VerificationKey(key).algorithms.isDisjoint(with: usable) else {
          throw .unsupportedAlgorithm
        }
      }
    } catch { throw Problem(.malformed, "\"jwks\" can't be used: \(error)") }
    guard set.keys.count == listed.count else {
      throw Problem(.malformed, "a key in \"jwks\" has an unsupported type; use P-256 or RSA")
    }
    return set
  }

  private static func algorithm(_ name: String, of keys: JWKSet?) throws(Problem) -> SignatureAlgorithm {
    let algorithms = OpenIDNames.clientAlgorithms
    guard let algorithm = algorithms.first(where: { $0.rawValue.hasSameBytes(as: name) }) else {
      throw Problem(
        .malformed,
        "\"requestAlgorithm\" must be one of \(algorithms.map(\.rawValue).joined(separator: ", "))")
    }
    guard let keys, VerificationKeySet(keys).algorithms.contains(algorithm) else {
      throw Problem(.malformed, "\"requestAlgorithm\" needs a key in \"jwks\" that it can be used with")
    }
    return algorithm
  }

  /// Returns the public members of the keys; all other members are dropped.
  private static func text(of set: JWKSet) throws(Problem) -> [UInt8] {
    var keys: [JSONValue] = []
    do throws(JOSEFailure) {
      for key in set.keys { keys.append(.object(try key.publicObject())) }
    } catch { throw Problem(.malformed, "\"jwks\" can't be used: \(error)") }
    let object: JSONObject = ["keys": .array(keys)]
    return object.bytes
  }
}
