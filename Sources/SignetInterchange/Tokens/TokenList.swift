import SignetCrypto
package import SignetJSON
import SignetOATH
import SignetSystem

/// A list of tokens that an operator imports to a server: PSKC (RFC 6030), JSON of the protocol, or CSV.
///
/// Only the form of CSV and JSON is checked here: the server validates the members and names those that it rejects.
package struct TokenList: Sendable {
  /// The largest list, in bytes: enough for some hundred thousand tokens.
  package static let maximumByteCount = 64 << 20

  /// The tokens in the form of the protocol.
  package let tokens: [JSONObject]
  /// The line of each token in CSV; `nil` for the other forms.
  private let lines: [Int]?

  /// Parses a list.
  ///
  /// - Parameters:
  ///   - bytes: The content of a file, ``maximumByteCount`` at most.
  ///   - key: The key that decrypts PSKC; `nil` if it is not encrypted.
  /// - Throws: ``TokenListFailure``, which never contains a secret.
  package init(parsing bytes: [UInt8], key: PSKCEncryptionKey? = nil) throws(TokenListFailure) {
    guard bytes.count <= Self.maximumByteCount else { throw .tooLarge }
    // A byte order mark may precede XML.
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

  /// Returns the location of a token in the file.
  ///
  /// - Parameter index: The index in ``tokens``.
  /// - Returns: `line 2` for CSV, `token 1` for the other forms.
  package func location(of index: Int) -> String {
    if let lines { "line \(lines[index])" } else { "token \(index + 1)" }
  }

  /// Rejects repeated serial numbers: the server would store only the first of the tokens.
  private func checkSerials() throws(TokenListFailure) {
    var indices: [String: Int] = [:]
    for (index, token) in tokens.enumerated() {
      // A longer serial number is invalid; the server reports that.
      guard case .string(let serial)? = token["serial"], serial.utf8.count <= 64 else { continue }
      if let earlier = indices.updateValue(index, forKey: serial) {
        throw .repeated(serial: serial, first: location(of: earlier), again: location(of: index))
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
