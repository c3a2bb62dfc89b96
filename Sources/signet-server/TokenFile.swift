import SignetInterchange
import SignetJSON
import SignetOATH
import SignetProtocol
import SignetServer
import SignetTerminal

/// A file of tokens to import, split into requests.
struct TokenFile {
  /// The number of tokens per request, which is limited to 64 KiB.
  private static let batchCount = 100

  private let path: String
  private let list: SignetInterchange.TokenList

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: The file; `-` stands for standard input.
  ///   - key: The key that decrypts PSKC; `nil` if the file is not encrypted.
  /// - Throws: `CommandFailure`, which names the position of the error and never shows a secret.
  init(_ path: String, key: PSKCEncryptionKey? = nil) throws {
    self.path = path
    let bytes = try InputFile.bytes(of: path, limit: TokenList.maximumByteCount)
    do throws(TokenListFailure) { list = try TokenList(parsing: bytes, key: key) } catch {
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

  /// The import requests, validated with the server's own rules: if one token is invalid, nothing is sent.
  ///
  /// - Throws: `CommandFailure`, the same as for a server's refusal, with the position in the file.
  var requests: [NewTokens] {
    get throws(CommandFailure) {
      var read: [NewToken] = []
      for (index, content) in list.tokens.enumerated() {
        do throws(Problem) {
          let token = try NewToken(content)
          _ = try token.decoded()
          read.append(token)
        } catch {
          throw CommandFailure(
            ExitCodes.code(error.code),
            "\(path): \(ours: list.location(of: index)): \(error.detail, limit: 2000)")
        }
      }
      return stride(from: 0, to: read.count, by: Self.batchCount).map {
        NewTokens(tokens: Array(read[$0..<min($0 + Self.batchCount, read.count)]))
      }
    }
  }

  /// Adds the position in the file to a refusal about an unknown user.
  ///
  /// - Parameters:
  ///   - refusal: The server's refusal.
  ///   - request: One of ``requests``.
  /// - Returns: The failure with the position; the refusal itself if it does not concern the file.
  func located(_ refusal: ServerRefusal, of request: NewTokens) -> any Error {
    guard refusal.problem.code == .unknown,
      let token = request.tokens.first(where: { token in
        token.user.map { refusal.problem.detail.contains("\"\($0.text)\"") } ?? false
      }),
      let index = list.tokens.firstIndex(where: { $0["serial"] == .string(token.serial.text) })
    else { return refusal }
    return CommandFailure(
      refusal.shown.exitCode, "\(path): \(ours: list.location(of: index)): \(refusal.shown.message)")
  }
}
