import SignetJSON
import SignetOATH
import SignetServer
import SignetTerminal
import SignetWire

/// A file of tokens to be imported, as the requests that import them.
struct TokenFile {
  /// How many tokens go into one request, which has at most 64 KiB.
  private static let batchCount = 100

  private let path: String
  private let list: SignetOATH.TokenList

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: The file; `-` stands for standard input.
  ///   - key: What decrypts PSKC; `nil` where it is not encrypted.
  /// - Throws: `CommandFailure`, which says where the file is wrong, and never shows a secret.
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

  /// The requests that import the tokens, read as the server reads them: one that is wrong has none of the file sent.
  ///
  /// - Throws: `CommandFailure`, as of a server that refuses one, with the place in the file.
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
            "\(path): \(ours: list.place(of: index)): \(error.detail, limit: 2000)")
        }
      }
      return stride(from: 0, to: read.count, by: Self.batchCount).map {
        NewTokens(tokens: Array(read[$0..<min($0 + Self.batchCount, read.count)]))
      }
    }
  }

  /// What a server says of a request, with the place in the file of the user that it does not know.
  ///
  /// - Parameters:
  ///   - refusal: What the server has answered.
  ///   - request: One of ``requests``.
  /// - Returns: What is told; the refusal itself where it is about nothing of the file.
  func placed(_ refusal: ServerRefusal, of request: NewTokens) -> any Error {
    guard refusal.problem.code == .unknown,
      let token = request.tokens.first(where: { token in
        token.user.map { refusal.problem.detail.contains("\"\($0.text)\"") } ?? false
      }),
      let index = list.tokens.firstIndex(where: { $0["serial"] == .string(token.serial.text) })
    else { return refusal }
    return CommandFailure(
      refusal.shown.exitCode, "\(path): \(ours: list.place(of: index)): \(refusal.shown.message)")
  }
}
