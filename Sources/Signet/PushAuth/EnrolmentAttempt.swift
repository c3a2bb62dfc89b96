import SignetCrypto
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetVault

/// A started enrolment, stored in the vault before the server is contacted and until all parts are stored.
///
/// The server accepts the data of a URI once. The program may end before the parts are stored, or the answer may be lost.
/// The attempt then still has the mechanism ID that the server knows, and a repetition continues with it. The attempt
/// contains no secrets, because a repetition brings the URI again.
struct EnrolmentAttempt: Hashable, Sendable {
  /// The lifetime of an attempt in seconds, 30 days.
  static let lifetime: Int64 = 30 * 86_400
  /// The maximum number of stored attempts.
  static let limit = 32

  /// The ID of the push mechanism, if the URI has one.
  let push: Account.ID
  /// The ID of the one-time codes, if the URI has any.
  let codes: Account.ID
  /// The start of the attempt, in seconds since 1970.
  let created: Int64
  /// A MAC that identifies the URI, under a secret of the URI.
  private let fingerprint: [UInt8]

  /// The name of the record.
  var recordName: String { Self.prefix + push.description }

  /// The IDs under which policies may be stored.
  var parts: [Account.ID] { [push, codes] }

  private static let prefix = "enrolling-"

  /// Creates an attempt that starts now.
  init(of uri: AuthenticatorURI, from random: any RandomSource, at now: Int64) {
    push = Account.ID(from: random)
    codes = Account.ID(from: random)
    created = now
    fingerprint = Self.fingerprint(of: uri)
  }

  private init(push: Account.ID, codes: Account.ID, created: Int64, fingerprint: [UInt8]) {
    self.push = push
    self.codes = codes
    self.created = created
    self.fingerprint = fingerprint
  }

  /// Reads all stored attempts.
  ///
  /// - Throws: ``VaultFailure``.
  static func all(in records: OpenRecords) throws(VaultFailure) -> [EnrolmentAttempt] {
    var found: [EnrolmentAttempt] = []
    for name in records.names where name.hasPrefix(prefix) {
      guard let push = Account.ID(String(name.dropFirst(prefix.count))), let secret = try records.secret(name)
      else { continue }
      let framed = try FramedRecord(secret, newest: 1)
      do {
        let object = try JSONObject(parsing: framed.json)
        guard let codes = Account.ID(try object.string("codes")) else { throw VaultFailure.damaged }
        found.append(
          EnrolmentAttempt(
            push: push, codes: codes, created: try object.integer("created"),
            fingerprint: framed.secret.insecureCopy()))
      } catch { throw .damaged }
    }
    return found
  }

  /// Indicates whether both attempts are for the same URI.
  func isSame(as other: EnrolmentAttempt) -> Bool { fingerprint == other.fingerprint }

  /// The attempts to delete when this one starts: expired ones, and the oldest beyond the limit.
  func outdated(among others: [EnrolmentAttempt]) -> [EnrolmentAttempt] {
    let newestFirst = others.sorted { ($0.created, $0.recordName) > ($1.created, $1.recordName) }
    return newestFirst.enumerated().filter { index, other in
      index + 1 >= Self.limit || created - Self.lifetime > other.created
    }.map(\.element)
  }

  var bytes: SecretBytes {
    let object: JSONObject = ["codes": .string(codes.description), "created": .integer(created)]
    return FramedRecord.bytes(version: 1, json: object.bytes, secret: SecretBytes(copying: fingerprint))
  }

  /// HMAC-SHA256 over the scheme, names and push registration of the URI, under the secret in the URI.
  private static func fingerprint(of uri: AuthenticatorURI) -> [UInt8] {
    var text: [String] = ["signet enrolment v1", uri.scheme.rawValue, uri.issuer, uri.account]
    if let push = uri.push { text += [push.registrationEndpoint, push.messageID ?? ""] }
    var content: [UInt8] = []
    for part in text {
      // Each part has its length before it, so two different lists never yield the same bytes.
      let length = UInt32(clamping: part.utf8.count)
      content += stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: length >> $0) }
      content += Array(part.utf8)
    }
    let secret = uri.push?.sharedSecret ?? uri.oath?.secret ?? SharedSecretBox(SecretBytes(copying: [0]))
    return secret.withSecret { HMACKey($0, .sha256).authenticationCode(for: content) }
  }
}
