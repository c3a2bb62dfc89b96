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
  /// The line of each in CSV; `nil` for the other forms.
  private let lines: [Int]?

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
    case UInt8(ascii: "<"): (tokens, lines) = (try Self.pskc(bytes, key), nil)
    case UInt8(ascii: "{"): (tokens, lines) = (try Self.json(bytes), nil)
    default:
      let csv = try CSVTokens(parsing: bytes)
      (tokens, lines) = (csv.tokens, csv.lines)
    }
    guard !tokens.isEmpty else { throw .empty }
    try checkSerials()
  }

  /// Where a token stands in the file.
  ///
  /// - Parameter index: Which of ``tokens``.
  /// - Returns: `line 2` of CSV, `token 1` of what has no such lines.
  package func place(of index: Int) -> String {
    if let lines { "line \(lines[index])" } else { "token \(index + 1)" }
  }

  /// Of two tokens of one serial number a server would keep the first alone.
  private func checkSerials() throws(TokenListFailure) {
    var found: [String: Int] = [:]
    for (index, token) in tokens.enumerated() {
      // No serial number is longer; a server says so.
      guard case .string(let serial)? = token["serial"], serial.utf8.count <= 64 else { continue }
      if let earlier = found.updateValue(index, forKey: serial) {
        throw .repeated(serial: serial, first: place(of: earlier), again: place(of: index))
      }
    }
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
