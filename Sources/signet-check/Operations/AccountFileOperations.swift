import SignetCrypto
import SignetInterchange
import SignetJSON
import SignetOATH

/// Account files of authenticators, without a password: a key derivation would be slow by design.
let accountFileOperations = [
  Operation(name: "account-file") { request in
    let bytes = try request.hex("fileHex")
    let imported: ImportedAccounts
    do throws(InterchangeFailure) { imported = try AccountFile.read(bytes) } catch {
      if case .passwordNeeded = error { throw CheckFailure("file.encrypted", error.description) }
      throw CheckFailure("file.invalid", error.description)
    }
    return [
      "format": .string(imported.format.rawValue),
      "accounts": .array(imported.accounts.map { .object($0.members) }),
      "skipped": .array(imported.skipped.map { .object($0.members) }),
    ]
  }
]

extension OTPAccount {
  fileprivate var members: JSONObject {
    var object: JSONObject = [
      "issuer": .string(issuer), "account": .string(name), "algorithm": .string(algorithm.rawValue),
      "digits": .integer(Int64(digits)),
      "secretHex": .string(secret.withSecret { Hex.encode($0.insecureCopy()) }),
    ]
    switch kind {
    case .totp(let period, let start):
      object["type"] = "totp"
      object["period"] = .integer(Int64(period))
      object["t0"] = .integer(start)
    case .hotp(let counter):
      object["type"] = "hotp"
      object["counter"] = .string(String(counter))
    case .ocra(let suite, _, let counter):
      object["type"] = "ocra"
      object["suite"] = .string(suite.description)
      object["counter"] = .string(String(counter))
    }
    object["image"] = image.map { .string($0) }
    return object
  }
}

extension SkippedAccount {
  fileprivate var members: JSONObject {
    ["position": .integer(Int64(position)), "title": .string(title), "reason": .string(reason.description)]
  }
}
