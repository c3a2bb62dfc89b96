import SignetCrypto
import SignetInterchange
import SignetOATH

/// Made-up accounts for tests.
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

  /// Accounts that every format can express.
  static func common() throws -> [OTPAccount] {
    [
      try account(), try account("Zoë & Co", "a+b c", .hotp(counter: 0)),
      try account(
        "Bank", "bob", .hotp(counter: 77_777), algorithm: .sha512, digits: 8, secret: [0xFF, 0, 0x80]),
      try account("Mail", "日本", algorithm: .sha256, secret: Array(0...63)),
    ]
  }

  /// These, and an account that most formats can express.
  static func rich() throws -> [OTPAccount] {
    try common() + [try account("Shop", "carol", .totp(period: 60), digits: 7)]
  }

  /// Accounts that only PSKC can express.
  static func onlyPSKC() throws -> [OTPAccount] {
    func suite(_ text: String) throws -> OCRASuite { try OCRASuite(text) }
    return [
      try account("Bank", "one", .ocra(try suite("OCRA-1:HOTP-SHA1-6:QN08"))),
      try account(
        "Bank", "two", .ocra(try suite("OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1"), lengths: 6...8, counter: 7)),
      try account("Bank", "three", .ocra(try suite("OCRA-1:HOTP-SHA512-0:QH40-S064-T1M"), lengths: 4...4)),
      try OTPAccount(
        issuer: "Card", name: "four", kind: .hotp(counter: 3), hasCheckDigit: true, secret: box("secret")),
    ]
  }
}

/// The compared parts of an account, without foreign data.
struct AccountFacts: Codable, Equatable {
  var issuer: String
  var name: String
  var type: String
  var algorithm: String
  var digits: Int
  var secret: String
  var period: Int?
  var counter: UInt64?
  var suite: String?
  var shortest: Int?
  var longest: Int?
  var check: Bool?

  init(_ account: OTPAccount) {
    (issuer, name) = (account.issuer, account.name)
    (algorithm, digits) = (account.algorithm.rawValue, account.digits)
    check = account.hasCheckDigit ? true : nil
    secret = account.secret.withSecret { Hex.encode($0.insecureCopy()) }
    switch account.kind {
    case .totp(let period, _): (type, self.period) = ("totp", period)
    case .hotp(let counter): (type, self.counter) = ("hotp", counter)
    case .ocra(let suite, let lengths, let counter):
      (type, self.suite) = ("ocra", suite.description)
      (shortest, longest) = (lengths?.lowerBound, lengths?.upperBound)
      self.counter = suite.hasCounter ? counter : nil
    }
  }
}

extension [OTPAccount] {
  var facts: [AccountFacts] { map(AccountFacts.init) }
}
