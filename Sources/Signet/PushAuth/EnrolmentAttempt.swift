import SignetCrypto
import SignetJSON
import SignetOATH
import SignetVault

/// An enrolment that has begun, as the vault keeps it from before the server is asked until all parts are stored.
///
/// The server takes what is in a URI once. Where the program ends after the server has agreed and before anything is stored, or
/// the answer is lost, this has the name under which the server knows the mechanism: with it the enrolment is gone on with when
/// it is repeated. There are no secrets in it; those come with the URI again.
struct EnrolmentAttempt: Hashable, Sendable {
  /// After how many seconds one is forgotten: 30 days.
  static let lifetime: Int64 = 30 * 86_400
  /// The most that are kept.
  static let limit = 32

  /// The push mechanism, if there will be one.
  let push: Account.ID
  /// The one-time codes, if there will be any.
  let codes: Account.ID
  /// When it began, in seconds since 1970.
  let created: Int64
  /// What tells URIs apart: a code under a secret of the URI.
  private let mark: [UInt8]

  /// The name of the record.
  var recordName: String { Self.prefix + push.description }

  /// What there may be notes of.
  var parts: [Account.ID] { [push, codes] }

  private static let prefix = "enrolling-"

  /// One that begins now.
  init(of uri: AuthenticatorURI, from random: any RandomSource, at now: Int64) {
    (push, codes, created) = (Account.ID(from: random), Account.ID(from: random), now)
    mark = Self.mark(of: uri)
  }

  private init(push: Account.ID, codes: Account.ID, created: Int64, mark: [UInt8]) {
    (self.push, self.codes, self.created, self.mark) = (push, codes, created, mark)
  }

  /// All that have begun and not ended.
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
            mark: framed.secret.insecureCopy()))
      } catch { throw .damaged }
    }
    return found
  }

  /// Whether both are of one URI.
  func isSame(as other: EnrolmentAttempt) -> Bool { mark == other.mark }

  /// Those that are not kept once this one has begun.
  func outdated(among others: [EnrolmentAttempt]) -> [EnrolmentAttempt] {
    let newestFirst = others.sorted { ($0.created, $0.recordName) > ($1.created, $1.recordName) }
    return newestFirst.enumerated().filter { index, other in
      index + 1 >= Self.limit || created - Self.lifetime > other.created
    }.map(\.element)
  }

  var bytes: SecretBytes {
    let object: JSONObject = ["codes": .string(codes.description), "created": .integer(created)]
    return FramedRecord.bytes(version: 1, json: object.bytes, secret: SecretBytes(copying: mark))
  }

  /// HMAC-SHA256 of what the URI is for, under what it brings that nobody else knows.
  private static func mark(of uri: AuthenticatorURI) -> [UInt8] {
    var text: [String] = ["signet enrolment v1", uri.scheme.rawValue, uri.issuer, uri.account]
    if let push = uri.push { text += [push.registrationEndpoint, push.messageID ?? ""] }
    var content: [UInt8] = []
    for part in text {
      // With their lengths, so that no two lists run together.
      let length = UInt32(clamping: part.utf8.count)
      content += stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: length >> $0) }
      content += Array(part.utf8)
    }
    let secret = uri.push?.sharedSecret ?? uri.oath?.secret ?? SharedSecretBox(SecretBytes(copying: [0]))
    return secret.withSecret { HMACKey($0, .sha256).authenticationCode(for: content) }
  }
}
