import SignetCrypto
import SignetInterchange
import SignetOATH
import SignetTestKit
import Testing

@Suite("otpauth-migration URIs of Google Authenticator")
struct MigrationTests {
  /// One account made by hand: the secret “Hello!” and four bytes, Example:alice@google.com, Example, TOTP.
  static let sample =
    "otpauth-migration://offline?data=CjEKCkhlbGxvId6tvu8SGEV4YW1wbGU6YWxpY2VAZ29vZ2xlLmNvbRoHRXhhbXBsZTAC"

  @Test("one account by hand")
  func byHand() throws {
    let batch = try MigrationBatch(Self.sample)
    #expect(batch.count == 1 && batch.index == 0 && batch.content.skipped.isEmpty)
    let account = try #require(batch.content.accounts.first)
    #expect(
      account.issuer == "Example" && account.name == "alice@google.com" && account.kind == .totp(period: 30))
    #expect(account.secret.withSecret { Hex.encode($0.insecureCopy()) } == "48656c6c6f21deadbeef")
  }

  @Test("an export in several QR codes is joined in any order")
  func batches() throws {
    let source = SeededRandomSource(seed: 22)
    var random = SplitMix64(seed: 22)
    var accounts = try SampleAccounts.common()
    for number in 0..<40 {
      accounts.append(
        try SampleAccounts.account("Issuer \(number)", "user:\(number)", secret: source.bytes(20)))
    }
    let (uris, skipped) = MigrationBatch.insecureURIs(of: accounts, random: source)
    #expect(uris.count > 2 && skipped.isEmpty && uris.allSatisfy { $0.utf8.count < 1500 })
    var batches = try uris.map { try MigrationBatch($0) }
    batches.append(batches[0])
    #expect(try MigrationBatch.joined(batches.shuffled(using: &random)).accounts.facts == accounts.facts)
    #expect(throws: InterchangeFailure.incompleteBatch(missing: [2], of: uris.count)) {
      try MigrationBatch.joined(batches.filter { $0.index != 1 })
    }
    let other = try MigrationBatch(
      try #require(MigrationBatch.insecureURIs(of: [accounts[0]], random: source).uris.first))
    #expect(try MigrationBatch.joined(batches + [other]).accounts.count == accounts.count + 1)
  }

  @Test("two QR codes that contradict each other are refused")
  func inconsistent() throws {
    struct SameBytes: RandomSource {
      func bytes(_ count: Int) -> [UInt8] { .init(repeating: 1, count: count) }
    }
    let one = MigrationBatch.insecureURIs(of: [try SampleAccounts.account("A", "a")], random: SameBytes())
      .uris
    let two = MigrationBatch.insecureURIs(of: [try SampleAccounts.account("B", "b")], random: SameBytes())
      .uris
    #expect(throws: InterchangeFailure.inconsistentBatch) {
      try MigrationBatch.joined((one + two).map { try MigrationBatch($0) })
    }
  }

  @Test("accounts that the format cannot express are skipped by name, not changed")
  func notRepresentable() throws {
    let accounts = [
      try SampleAccounts.account("A", "a", digits: 7),
      try SampleAccounts.account("B", "b", .totp(period: 60)),
      try SampleAccounts.account("C", "c", .hotp(counter: .max)), try SampleAccounts.account("D", "d"),
    ]
    let (uris, skipped) = MigrationBatch.insecureURIs(of: accounts)
    #expect(skipped.map(\.title) == ["A (a)", "B (b)", "C (c)"] && skipped.map(\.position) == [1, 2, 3])
    #expect(
      try MigrationBatch.joined(uris.map { try MigrationBatch($0) }).accounts.facts == [accounts[3]].facts)
  }

  @Test("MD5 and unknown types are skipped with a reason; the others are read")
  func skipped() throws {
    // Two accounts, `secret`, `name`, and then algorithm 4 in the first, type 9 in the second; and a valid one.
    let message: [UInt8] =
      [10, 7, 10, 1, 1, 18, 0, 0x20, 4] + [10, 7, 10, 1, 1, 18, 0, 0x30, 9] + [10, 6, 10, 1, 1, 18, 1, 0x61]
    let batch = try MigrationBatch("otpauth-migration://offline?data=\(Base64.encode(message))")
    #expect(batch.content.accounts.map(\.name) == ["a"])
    #expect(
      batch.content.skipped.map(\.reason) == [.unsupportedAlgorithm("MD5"), .unsupportedType("number 9")])
  }

  private static let wrongCount = InterchangeFailure.invalid("data", reason: "counts its QR codes wrongly")

  @Test(
    "refused",
    arguments: [
      ("otpauth-migration://offline", .missing("data")), ("otpauth://totp/x?secret=AB", .notURI),
      ("otpauth-migration://offline?data=!", .invalid("data", reason: "is not Base64")),
      // A number of more than 64 bits, a length beyond the end, index 1 of 1, and 2^63 QR codes.
      (
        "otpauth-migration://offline?data=//////////////8=",
        .invalid("data", reason: "is not a message of this kind")
      ),
      ("otpauth-migration://offline?data=Cv8B", .invalid("data", reason: "is not a message of this kind")),
      ("otpauth-migration://offline?data=GAEgAQ==", wrongCount),
      ("otpauth-migration://offline?data=GP//////////AQ==", wrongCount),
      (
        "otpauth-migration://offline?data=" + String(repeating: "A", count: 65_536),
        .tooLarge("URI", limit: 65_536)
      ),
    ] as [(String, InterchangeFailure)])
  func refused(text: String, failure: InterchangeFailure) {
    #expect(throws: failure) { try MigrationBatch(text) }
  }

  @Test("an empty export has no accounts")
  func empty() throws {
    let batch = try MigrationBatch("otpauth-migration://offline?data=")
    #expect(batch.content.accounts.isEmpty && batch.content.skipped.isEmpty && batch.count == 1)
  }
}
