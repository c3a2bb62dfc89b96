import SignetCrypto
import SignetJSON
import SignetOATH
import SignetTerminal
import SignetText

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file of tokens to be imported, as the requests that import them: PSKC (RFC 6030), JSON as the protocol has it, or CSV.
struct TokenFile {
  /// The largest file, in bytes: some hundred thousand tokens.
  static let maximumByteCount = 64 << 20
  /// How many tokens go into one request, which has at most 64 KiB.
  private static let batchCount = 100

  /// The tokens, each as the protocol has it.
  let tokens: [JSONObject]

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: The file; `-` stands for standard input.
  ///   - key: What decrypts PSKC; `nil` where it is not encrypted.
  /// - Throws: `CommandFailure`, which says where the file is wrong, and never shows a secret.
  init(_ path: String, key: PSKCEncryptionKey? = nil) throws {
    tokens = try Self.tokens(InputFile.bytes(of: path, limit: Self.maximumByteCount), path, key)
    guard !tokens.isEmpty else { throw CommandFailure(.dataError, "\(path) has no token") }
  }

  private static func tokens(
    _ bytes: [UInt8], _ path: String, _ key: PSKCEncryptionKey?
  ) throws -> [JSONObject] {
    // A byte order mark may stand before XML.
    let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
    if first == UInt8(ascii: "<") { return try pskc(bytes, path, key) }
    guard first == UInt8(ascii: "{") else { return try csv(bytes, path) }
    do {
      let object = try JSONObject(
        parsing: bytes, limits: JSONLimits(maximumByteCount: maximumByteCount, maximumMemberCount: 10_000_000)
      )
      return try objects("tokens", in: object)
    } catch let failure as JSONFailure {
      throw CommandFailure(.dataError, "\(path) is no file of tokens: \(failure)")
    }
  }

  /// The requests that import the tokens.
  var requests: [JSONObject] {
    stride(from: 0, to: tokens.count, by: Self.batchCount).map { start in
      ["tokens": .array(tokens[start..<min(start + Self.batchCount, tokens.count)].map { .object($0) })]
    }
  }

  // MARK: PSKC

  private static func pskc(
    _ bytes: [UInt8], _ path: String, _ key: PSKCEncryptionKey?
  ) throws -> [JSONObject] {
    let container: PSKCContainer
    do throws(InterchangeFailure) { container = try PSKCContainer(parsing: bytes, key: key) } catch {
      switch error {
      case .passwordNeeded, .unsupportedEncryption:
        throw CommandFailure(
          .dataError,
          "\(path) is encrypted (\(error)); --transport-key or --transport-password names what it is encrypted with"
        )
      case .wrongPassword, .macMismatch: throw CommandFailure(.permissionDenied, "\(path): \(error)")
      default: throw CommandFailure(.dataError, "\(path): \(error)")
      }
    }
    return try container.keys.map { key in
      guard let serial = key.serialNumber ?? key.id else {
        throw CommandFailure(.dataError, "\(path): a key has neither a serial number nor an id")
      }
      let account: OTPAccount
      do throws(InterchangeFailure) { account = try OTPAccount(key) } catch {
        throw CommandFailure(.dataError, "\(path): the token \(serial): \(error)")
      }
      func unsupported(_ what: String) -> CommandFailure {
        CommandFailure(
          .dataError,
          "\(path): the token \(serial) \(what), which this server does not check")
      }
      guard !account.hasCheckDigit else { throw unsupported("has a check digit") }
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
      case .ocra: throw unsupported("answers challenges (OCRA)")
      }
      return object
    }
  }

  // MARK: CSV

  private static let numbers = ["digits", "period", "start", "counter"]
  private static let texts = ["serial", "kind", "algorithm", "user"]
  private static let secrets = ["secret", "secret-hex", "secret-base32"]

  private static func csv(_ bytes: [UInt8], _ path: String) throws -> [JSONObject] {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.dataError, "\(path) is neither JSON nor CSV in UTF-8")
    }
    var lines = text.split(whereSeparator: \.isNewline)[...]
    guard let first = lines.popFirst() else { return [] }
    let names = fields(first).map { $0.lowercased() }
    for name in names where !(numbers + texts + secrets).contains(name) {
      throw CommandFailure(
        .dataError,
        "\(path): the first line names the columns, of \((texts + secrets + numbers).joined(separator: ", ")); "
          + "\"\(name.prefix(40))\" is none of them")
    }
    guard Set(names).count == names.count, Set(names).isSuperset(of: ["serial", "kind"]),
      names.filter(secrets.contains).count == 1
    else {
      throw CommandFailure(
        .dataError, "\(path): the columns \"serial\", \"kind\" and one for the secret are needed, once each")
    }
    return try lines.enumerated().map { index, line in
      try token(names, fields(line), "\(path), line \(index + 2)")
    }
  }

  private static func fields(_ line: Substring) -> [String] {
    line.split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmed
    }
  }

  private static func token(_ names: [String], _ fields: [String], _ place: String) throws -> JSONObject {
    guard fields.count == names.count else {
      throw CommandFailure(
        .dataError, "\(place): \(fields.count) fields, and the first line names \(names.count)")
    }
    var object = JSONObject()
    for (name, field) in zip(names, fields) where !field.isEmpty {
      switch name {
      case "secret-hex", "secret-base32":
        var bytes: [UInt8]
        do { bytes = name == "secret-hex" ? try Hex.decode(field) : try Base32.decode(field) } catch {
          throw CommandFailure(.dataError, "\(place): the secret is not \(name.dropFirst("secret-".count))")
        }
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        object["secret"] = .string(Base64URL.encode(bytes))
      case _ where numbers.contains(name):
        guard let number = Int64(field) else {
          throw CommandFailure(.dataError, "\(place): \"\(name)\" is not a number")
        }
        object[name] = .integer(number)
      default: object[name] = .string(field)
      }
    }
    return object
  }
}
