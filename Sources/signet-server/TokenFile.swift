import SignetJSON
import SignetOATH
import SignetServer
import SignetTerminal
import SignetWire

/// A file of tokens to be imported, as the requests that import them.
struct TokenFile {
  /// How many tokens go into one request, which has at most 64 KiB.
  private static let batchCount = 100

  private let tokens: [JSONObject]

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: The file; `-` stands for standard input.
  ///   - key: What decrypts PSKC; `nil` where it is not encrypted.
  /// - Throws: `CommandFailure`, which says where the file is wrong, and never shows a secret.
  init(_ path: String, key: PSKCEncryptionKey? = nil) throws {
    let bytes = try InputFile.bytes(of: path, limit: TokenList.maximumByteCount)
    do throws(TokenListFailure) { tokens = try TokenList(parsing: bytes, key: key).tokens } catch {
      switch error {
      case .container(.passwordNeeded), .container(.unsupportedEncryption):
        throw CommandFailure(
          .dataError,
          "\(path) is encrypted (\(error)); --transport-key or --transport-password names what it is encrypted with"
        )
      case .container(.wrongPassword), .container(.macMismatch):
        throw CommandFailure(.permissionDenied, "\(path): \(error)")
      default: throw CommandFailure(.dataError, "\(path): \(error)")
      }
    }
  }

  /// The requests that import the tokens, read as the server reads them.
  ///
  /// - Throws: `CommandFailure`, as of a server that refuses one.
  var requests: [NewTokens] {
    get throws(CommandFailure) {
      do throws(Problem) {
        var requests: [NewTokens] = []
        for start in stride(from: 0, to: tokens.count, by: Self.batchCount) {
          let batch = tokens[start..<min(start + Self.batchCount, tokens.count)]
          requests.append(try NewTokens(["tokens": .array(batch.map { .object($0) })]))
        }
        return requests
      } catch { throw CommandFailure(error) }
    }
  }
}
