import LibFuzzer
import SignetCrypto
@testable import SignetInterchange
import SignetJSON
@testable import SignetOATH

@main struct FuzzAccounts {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    checkFile(input)
    checkContainer(input)
    checkTokens(input)
    guard let text = String(validating: input, as: UTF8.self) else { return }
    checkURI(text)
    checkMigration(text)
    checkSigning(text)
  }

  /// A file of any format; an encrypted one is not opened, since deriving its key takes longer than a run may.
  private static func checkFile(_ input: [UInt8]) {
    guard
      let imported = accepted({ () throws(InterchangeFailure) in try AccountFile.read(input) })
    else { return }
    for format in InterchangeFormat.allCases where format != .raivo {
      let written = made("every format can be written") { () throws(InterchangeFailure) in
        try AccountFile.write(imported.accounts, as: format)
      }
      require(written.count + written.skipped.count == imported.accounts.count, "no account is lost unnamed")
      guard written.count > 0 else { continue }
      let bytes = written.contents.withSecret { $0.insecureCopy() }
      guard bytes.count <= AccountFile.maximumByteCount else { continue }
      let again = made("what is written is read") { () throws(InterchangeFailure) in
        try AccountFile.read(bytes)
      }
      require(again.skipped.isEmpty && again.accounts.count == written.count, "all of it")
      let skipped = Set(written.skipped.map(\.position))
      let kept = imported.accounts.enumerated().filter { !skipped.contains($0.offset + 1) }.map(\.element)
      for (one, other) in zip(kept, again.accounts) {
        require(one.makesSameCodes(as: other), "the codes are the same")
        require(one.kind == other.kind, "and the counter")
      }
    }
  }

  /// A container with encrypted keys under a given key, since deriving one from a password would take too long.
  private static func checkContainer(_ input: [UInt8]) {
    let key = SharedSecretBox(SecretBytes(copying: [UInt8](1...16)))
    _ = accepted { () throws(InterchangeFailure) in try PSKCContainer(parsing: input, key: .preShared(key)) }
  }

  /// Tokens for a server, in each of their three forms.
  private static func checkTokens(_ input: [UInt8]) {
    let key = PSKCEncryptionKey.preShared(SharedSecretBox(SecretBytes(copying: [UInt8](1...16))))
    guard
      let list = accepted({ () throws(TokenListFailure) in try TokenList(parsing: input, key: key) })
    else { return }
    require(!list.tokens.isEmpty, "a list has tokens")
    let json: JSONObject = ["tokens": .array(list.tokens.map { .object($0) })]
    let again = made("what is read is written as JSON, and read") { () throws(TokenListFailure) in
      try TokenList(parsing: json.bytes)
    }
    require(again.tokens == list.tokens, "all of it")
    let lines = accepted { () throws(TokenListFailure) in try CSVTokens(parsing: input) }
    guard let tokens = lines?.tokens else { return }
    require(tokens == list.tokens, "lines are read in one way")
    require(tokens.allSatisfy { !$0.contains("secret-hex") }, "a secret has one form")
  }

  private static func checkURI(_ text: String) {
    guard let uri = accepted({ () throws(InterchangeFailure) in try AuthenticatorURI(text) }) else { return }
    let printed = uri.insecureText
    if printed.utf8.count <= AuthenticatorURI.maximumByteCount {
      let again = made("what is printed is read") { () throws(InterchangeFailure) in
        try AuthenticatorURI(printed)
      }
      require(again.insecureText == printed, "one text for one account")
      require(again.issuer == uri.issuer && again.account == uri.account, "with its names")
    }
    guard let account = accepted({ () throws(InterchangeFailure) in try OTPAccount(uri: text) }) else {
      return
    }
    let again = accepted { () throws(InterchangeFailure) in try OTPAccount(uri: account.insecureURI()) }
    guard let again else { return }  // escapes may have made it too long
    require(again.makesSameCodes(as: account) && again.kind == account.kind, "nothing is lost")
    require(again.foreign == account.foreign, "and nothing that came along")
  }

  private static func checkMigration(_ text: String) {
    guard let batch = accepted({ () throws(InterchangeFailure) in try MigrationBatch(text) }) else { return }
    require((0..<batch.count).contains(batch.index), "the index is one of the batch")
    let joined = accepted { () throws(InterchangeFailure) in try MigrationBatch.joined([batch, batch]) }
    require((joined != nil) == (batch.count == 1), "a batch of one is whole, and no other")
  }

  /// A suite, and after each line feed a field.
  private static func checkSigning(_ text: String) {
    let parts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let suite = accepted({ () throws(OCRAFailure) in try OCRASuite(parts[0]) }) else { return }
    let fields = Array(parts.dropFirst())
    let challenge = accepted { () throws(OCRAFailure) in try OCRAChallenge(signing: fields, for: suite) }
    require((challenge == nil) == fields.joined().isEmpty, "every text has a challenge")
    require((challenge?.text.utf8.count ?? 0) <= suite.maximumChallengeLength, "and it fits")
  }
}
