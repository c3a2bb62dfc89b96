import SignetCrypto
import SignetOATH

/// Accounts for tests; none of them is anybody's.
enum SampleAccounts {
  static func box(_ text: String) -> SharedSecretBox {
    SharedSecretBox(SecretBytes(copying: Array(text.utf8)))
  }

  static func account(
    _ issuer: String = "Example", _ name: String = "alice@example.com",
    _ kind: OTPAccount.Kind = .totp(period: 30), algorithm: OATHAlgorithm = .sha1, digits: Int = 6,
    secret: [UInt8] = Array("12345678901234567890".utf8), image: String? = nil, foreign: [ForeignMember] = []
  ) throws -> OTPAccount {
    try OTPAccount(
      issuer: issuer, name: name, kind: kind, algorithm: algorithm, digits: digits,
      secret: SharedSecretBox(SecretBytes(copying: secret)), image: image, foreign: foreign)
  }

  /// What every format can say.
  static func common() throws -> [OTPAccount] {
    [
      try account(), try account("Zoë & Co", "a+b c", .hotp(counter: 0)),
      try account(
        "Bank", "bob", .hotp(counter: 77_777), algorithm: .sha512, digits: 8, secret: [0xFF, 0, 0x80]),
      try account("Mail", "日本", algorithm: .sha256, secret: Array(0...63)),
    ]
  }

  /// Those, and what most formats can say.
  static func rich() throws -> [OTPAccount] {
    try common() + [try account("Shop", "carol", .totp(period: 60), digits: 7)]
  }
}

/// An account as a test compares it: everything but what came from elsewhere.
struct AccountFacts: Codable, Equatable {
  var issuer: String
  var name: String
  var type: String
  var algorithm: String
  var digits: Int
  var secret: String
  var period: Int?
  var counter: UInt64?

  init(_ account: OTPAccount) {
    (issuer, name) = (account.issuer, account.name)
    (algorithm, digits) = (account.algorithm.rawValue, account.digits)
    secret = account.secret.withSecret { Hex.encode($0.insecureCopy()) }
    switch account.kind {
    case .totp(let period, _): (type, self.period) = ("totp", period)
    case .hotp(let counter): (type, self.counter) = ("hotp", counter)
    }
  }
}

extension [OTPAccount] {
  var facts: [AccountFacts] { map(AccountFacts.init) }
}
