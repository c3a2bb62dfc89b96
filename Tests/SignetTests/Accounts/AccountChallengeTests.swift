import Signet
import SignetCrypto
import SignetTestKit
import SignetTesting
import SignetVault
import Testing

/// OCRA keys, and codes with a check digit.
@Suite("Challenge-response with imported accounts", .timeLimit(.minutes(10))) struct AccountChallengeTests {
  private typealias Bench = AccountsTests.Bench

  private static func box(_ text: String) -> SharedSecretBox { AccountsTests.box(text) }

  /// The key of the standard's vectors, in the length of the hash function.
  private static func key(_ suite: OCRASuite) -> SharedSecretBox {
    let count = [OATHAlgorithm.sha1: 20, .sha256: 32, .sha512: 64][suite.algorithm] ?? 0
    return box(String(String(repeating: "1234567890", count: 7).prefix(count)))
  }

  private static func answering(
    _ suite: String, lengths: ClosedRange<Int>? = nil, counter: UInt64 = 0
  ) throws -> OTPAccount {
    let suite = try OCRASuite(suite)
    return try OTPAccount(
      issuer: "Bank", name: suite.description, kind: .ocra(suite, lengths: lengths, counter: counter),
      secret: key(suite))
  }

  /// Imports accounts as a PSKC document.
  private static func imported(_ accounts: [OTPAccount], _ device: Device) async throws -> [Account] {
    let written = try AccountFile.write(accounts, as: .pskc)
    let read = try AccountFile.read(written.contents.withSecret { $0.insecureCopy() })
    return try await device.accounts.add(read.accounts).added
  }

  @Test("RFC 6287 appendix C.1 and C.3 by accounts that were imported from PSKC")
  func challengeVectors() async throws {
    let bench = try Bench(now: 1_206_446_790)
    let device = try bench.device()
    let suites = [
      "OCRA-1:HOTP-SHA1-6:QN08", "OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1", "OCRA-1:HOTP-SHA256-8:QN08-PSHA1",
      "OCRA-1:HOTP-SHA512-8:C-QN08", "OCRA-1:HOTP-SHA512-8:QN08-T1M", "OCRA-1:HOTP-SHA256-8:QA08",
      "OCRA-1:HOTP-SHA512-8:QA10-T1M",
    ]
    let added = try await Self.imported(suites.map { try Self.answering($0) }, device)
    #expect(added.map { $0.suite?.description } == suites && added.allSatisfy { !$0.isTimed })
    func responses(_ number: Int, _ challenges: [String], pin: String? = nil) async throws -> [String] {
      var answers: [String] = []
      for challenge in challenges {
        // With another device object, like another process.
        let answer = try await bench.device().accounts.response(
          of: added[number].id, to: challenge, pin: pin.map(Self.box))
        #expect((answer.counter != nil) == suites[number].contains("C-"))
        answers.append(answer.response)
      }
      return answers
    }
    let repeated = (0..<5).map { String(repeating: String($0), count: 8) }
    #expect(try await responses(0, repeated) == ["237653", "243178", "653583", "740991", "608993"])
    #expect(
      try await responses(1, Array(repeating: "12345678", count: 3), pin: "1234")
        == ["65347737", "86775851", "78192410"])
    #expect(
      try await responses(2, repeated, pin: "1234")
        == ["83238735", "01501458", "17957585", "86776967", "86807031"])
    #expect(
      try await responses(3, repeated) == ["07016083", "63947962", "70123924", "25341727", "33203315"])
    #expect(
      try await responses(4, repeated) == ["95209754", "55907591", "22048402", "24218844", "36209546"])
    #expect(try await responses(5, ["SIG10000", "SIG11000"]) == ["53095496", "04110475"])
    #expect(try await responses(6, ["SIG1000000", "SIG1100000"]) == ["77537423", "31970405"])
  }

  @Test("refusals are typed errors and use no counter")
  func refusedChallenges() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let id = try await Self.imported(
      [try Self.answering("OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1", lengths: 6...8)], device)[0].id
    func refusal(
      _ challenge: String, pin: String? = "1234", session: [UInt8]? = nil
    ) async -> SignetError? {
      await #expect(throws: SignetError.self) {
        try await device.accounts.response(of: id, to: challenge, pin: pin.map(Self.box), session: session)
      }
    }
    #expect(await refusal("123456789") == .ocra(.challengeTooLong(length: 9, limit: 8)))
    #expect(await refusal("12345") == .ocra(.challengeTooShort(length: 5, limit: 6)))
    #expect(await refusal("1234567a") == .ocra(.challengeFormat(.numeric)))
    #expect(await refusal("") == .ocra(.challengeFormat(.numeric)))
    #expect(await refusal("12345678", pin: nil) == .ocra(.missing(.pin)))
    #expect(await refusal("12345678", session: [1]) == .ocra(.unexpected(.session)))
    await #expect(throws: SignetError.challengeRequired) { _ = try await device.accounts.code(of: id) }
    let counted = try await device.accounts.add([
      try OTPAccount(issuer: "A", name: "a", kind: .hotp(counter: 0), secret: Self.box("x"))
    ]).added[0].id
    await #expect(throws: SignetError.challengeNotSupported) {
      try await device.accounts.response(of: counted, to: "1")
    }
    // The first response of the standard: no counter was used up.
    let answer = try await device.accounts.response(of: id, to: "12345678", pin: Self.box("1234"))
    #expect(answer.response == "65347737" && answer.counter == 0)
    #expect(!"\(answer)".contains(answer.response) && Mirror(reflecting: answer).children.isEmpty)
    try await device.accounts.delete(id)
    await #expect(throws: SignetError.noSuchAccount) {
      try await device.accounts.response(of: id, to: "12345678", pin: Self.box("1234"))
    }
  }

  @Test("fifty concurrent answers have distinct counters; a rename and an export keep them")
  func oncePerResponse() async throws {
    let bench = try Bench()
    let added = try await Self.imported(
      [try Self.answering("OCRA-1:HOTP-SHA512-8:C-QN08", lengths: 4...8, counter: 5)], bench.device())
    let id = added[0].id
    let devices = try (0..<5).map { _ in try bench.device() }
    let answers = try await withThrowingTaskGroup(of: AccountResponse.self) { group in
      for number in 0..<50 {
        let device = devices[number % devices.count]
        group.addTask { try await device.accounts.response(of: id, to: "00000000") }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.compactMap(\.counter).sorted() == Array(5..<55))
    let renamed = try await bench.device().accounts.rename(id, issuer: "Other")
    #expect(renamed.suite == added[0].suite && renamed.challengeLengths == 4...8)
    let exported = try await bench.device().accounts.export().accounts
    #expect(
      exported.map(\.kind)
        == [.ocra(try OCRASuite("OCRA-1:HOTP-SHA512-8:C-QN08"), lengths: 4...8, counter: 55)])
    #expect(try await bench.device().accounts.add(exported).duplicates.map(\.id) == [id])
  }

  @Test("a check digit is kept in codes, after a rename and in exports")
  func checkDigits() async throws {
    let bench = try Bench()
    let account = try OTPAccount(
      issuer: "Card", name: "c", kind: .hotp(counter: 0), hasCheckDigit: true,
      secret: SharedSecretBox(SecretBytes(copying: AccountsTests.secret)))
    let plain = try OTPAccount(
      issuer: "Card", name: "c", kind: .hotp(counter: 0), secret: account.secret)
    let added = try await Self.imported([account, plain], bench.device())
    #expect(added.map(\.hasCheckDigit) == [true, false])
    var codes = [try await bench.device().accounts.code(of: added[0].id).code]
    #expect(try await bench.device().accounts.rename(added[0].id, name: "d").hasCheckDigit)
    codes.append(try await bench.device().accounts.code(of: added[0].id).code)
    #expect(codes == ["7552243", "2870822"])
    let exported = try await bench.device().accounts.export(added.map(\.id)).accounts
    #expect(exported.map(\.hasCheckDigit) == [true, false])
  }

  @Test("records that earlier builds can express keep their format; others have a new version")
  func recordVersions() async throws {
    let bench = try Bench()
    let device = try bench.device()
    let added = try await device.accounts.add([
      try OTPAccount(issuer: "A", name: "a", kind: .hotp(counter: 0), secret: Self.box("x")),
      try OTPAccount(issuer: "B", name: "b", kind: .totp(period: 30), secret: Self.box("y")),
      try OTPAccount(
        issuer: "C", name: "c", kind: .hotp(counter: 0), hasCheckDigit: true, secret: Self.box("z")),
      try Self.answering("OCRA-1:HOTP-SHA1-6:QN08"),
    ]).added
    let path = bench.folder.path + "/device"
    let vault = try Vault.forTests(path)
    let container = try #require(try await vault.accountsContainer())
    let records = try await vault.open(Vault.accountsDomain, of: container, with: .device).openedRecords()
    let versions = try added.map { try records.secret("account-\($0.id)")?.insecureCopy().first }
    #expect(versions == [1, 1, 2, 2])
    #expect(try records.secret("counter-\(added[3].id)") == nil)
  }
}
