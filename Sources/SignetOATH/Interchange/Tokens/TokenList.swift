import SignetCrypto
package import SignetJSON
import SignetText

/// Tokens that an operator brings to a server: PSKC (RFC 6030), JSON as the protocol has it, or CSV.
///
/// What CSV and JSON say of a token is read by the server, which names what it does not take; here it has only to be of the form.
package struct TokenList: Sendable {
  /// The largest list, in bytes: some hundred thousand tokens.
  package static let maximumByteCount = 64 << 20

  /// The tokens, each as the protocol has it.
  package let tokens: [JSONObject]

  /// Reads a list.
  ///
  /// - Parameters:
  ///   - bytes: What a file holds, ``maximumByteCount`` at most.
  ///   - key: What decrypts PSKC; `nil` where it is not encrypted.
  /// - Throws: ``TokenListFailure``, which never has a secret.
  package init(parsing bytes: [UInt8], key: PSKCEncryptionKey? = nil) throws(TokenListFailure) {
    guard bytes.count <= Self.maximumByteCount else { throw .tooLarge }
    // A byte order mark may stand before XML.
    let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
    switch first {
    case UInt8(ascii: "<"): tokens = try Self.pskc(bytes, key)
    case UInt8(ascii: "{"): tokens = try Self.json(bytes)
    default: tokens = try CSVTokens(parsing: bytes).tokens
    }
    guard !tokens.isEmpty else { throw .empty }
  }

  private static func json(_ bytes: [UInt8]) throws(TokenListFailure) -> [JSONObject] {
    let limits = JSONLimits(maximumByteCount: maximumByteCount, maximumMemberCount: 10_000_000)
    let values: [JSONValue]
    do throws(JSONFailure) {
      values = try JSONObject(parsing: bytes, limits: limits).array("tokens")
    } catch { throw .json(error) }
    var tokens: [JSONObject] = []
    for value in values {
      guard case .object(let token) = value else { throw .notObjects }
      tokens.append(token)
    }
    return tokens
  }

  private static func pskc(
    _ bytes: [UInt8], _ key: PSKCEncryptionKey?
  ) throws(TokenListFailure) -> [JSONObject] {
    let container: PSKCContainer
    do throws(InterchangeFailure) { container = try PSKCContainer(parsing: bytes, key: key) } catch {
      throw .container(error)
    }
    var tokens: [JSONObject] = []
    for key in container.keys {
      guard let serial = key.serialNumber ?? key.id else { throw .unnamedKey }
      let account: OTPAccount
      do throws(InterchangeFailure) { account = try OTPAccount(key) } catch {
        throw .token(serial: serial, error)
      }
      tokens.append(try token(serial, account))
    }
    return tokens
  }

  private static func token(_ serial: String, _ account: OTPAccount) throws(TokenListFailure) -> JSONObject {
    guard !account.hasCheckDigit else {
      throw .unsupported(serial: serial, reason: "has a check digit")
    }
    var object: JSONObject = [
      "serial": .string(serial), "algorithm": .string(account.algorithm.rawValue),
      "digits": .integer(Int64(account.digits)),
      "secret": .string(account.secret.withSecret { Base64URL.encode($0.insecureCopy()) }),
    ]
    switch account.kind {
    case .hotp(let counter):
      object["kind"] = "hotp"
      object["counter"] = .integer(Int64(clamping: counter))
    case .totp(let period, let start):
      object["kind"] = "totp"
      object["period"] = .integer(Int64(period))
      object["start"] = .integer(start)
    case .ocra: throw .unsupported(serial: serial, reason: "answers challenges (OCRA)")
    }
    return object
  }
}
