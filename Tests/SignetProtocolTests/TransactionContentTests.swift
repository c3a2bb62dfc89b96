import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetTestKit
import Testing

/// The displayed and signed text, in one encoding (`docs/protocol.md` section 5).
@Suite struct TransactionContentTests {
  private static let bank = TransactionContent.Origin.relyingParty("Example Bank")

  private static func payment() throws -> TransactionContent {
    try TransactionContent(
      .form(
        TransactionForm(
          template: "payment",
          fields: [
            TransactionField(.amount(MoneyAmount("250.00", currency: "EUR"))),
            TransactionField(.payee(name: "Jane Doe", account: "DE02 1203")),
            TransactionField(.date(CalendarDay("2028-02-29")), label: "On"),
            TransactionField(.text("Invoice \"7\"\nOctober"), label: "Reference"),
            TransactionField(.group([.init("Transfer", "0.15 EUR"), .init("a\\b", "é")]), label: "Fees"),
          ])), from: bank, context: TransactionContext(address: "192.0.2.7", place: "Zürich"))
  }

  @Test func isCanonicalJSON() throws {
    #expect(
      try Self.payment().json
        == #"{"context":{"address":"192.0.2.7","place":"Zürich"},"form":{"fields":["#
        + #"{"currency":"EUR","type":"amount","value":"250.00"},"#
        + #"{"account":"DE02 1203","name":"Jane Doe","type":"payee"},"#
        + #"{"label":"On","type":"date","value":"2028-02-29"},"#
        + #"{"label":"Reference","type":"text","value":"Invoice \"7\"\nOctober"},"#
        + #"{"label":"Fees","pairs":[{"name":"Transfer","value":"0.15 EUR"},{"name":"a\\b","value":"é"}],"#
        + #""type":"group"}],"template":"payment"},"from":"Example Bank"}"#)
    #expect(
      try TransactionContent(.text("Pay"), from: .device, context: TransactionContext()).json
        == #"{"initiated":"device","text":"Pay"}"#)
  }

  @Test("content survives a round trip byte for byte", arguments: 0..<200)
  func roundTrip(_ seed: Int) throws {
    var random = SeededContent(seed: UInt64(seed))
    let content = try random.content()
    let read = try TransactionContent(parsing: content.json)
    #expect(read == content && read.body == content.body && read.context == content.context)
    #expect(read.origin == content.origin)
  }

  /// Every other encoding of the same JSON value: reordered members, white space, needless escapes.
  @Test("content has one canonical form", arguments: 0..<50)
  func isUnique(_ seed: Int) throws {
    var random = SeededContent(seed: UInt64(seed))
    let content = try random.content()
    let object = try JSONObject(parsing: Array(content.json.utf8))
    var reversed = JSONObject()
    for member in object.members.reversed() { reversed[member.name] = member.value }
    var others = [object.text(.pretty), " " + content.json, content.json + "\n"]
    if object.count > 1 { others.append(reversed.text) }
    let bytes = Array(content.json.utf8)
    for index in bytes.indices {
      switch bytes[index] {
      case UInt8(ascii: ":"), UInt8(ascii: ","):
        // In a string this changes the text, elsewhere it is white space.
        others.append(String(decoding: bytes[...index] + [0x20] + bytes[(index + 1)...], as: UTF8.self))
      case UInt8(ascii: "a")...UInt8(ascii: "z"):
        let escape = Array("\\u00\(String(bytes[index], radix: 16))".utf8)
        others.append(String(decoding: bytes[..<index] + escape + bytes[(index + 1)...], as: UTF8.self))
      default: continue
      }
    }
    for other in others {
      guard let read = try? TransactionContent(parsing: other) else { continue }
      #expect(read != content && read.json.utf8.elementsEqual(other.utf8))
    }
  }

  @Test("any changed byte gives another content or an error", arguments: 0..<10)
  func bindsEveryByte(_ seed: Int) throws {
    var random = SeededContent(seed: UInt64(seed))
    let content = try random.content()
    let bytes = Array(content.json.utf8)
    for index in bytes.indices {
      for mask in [UInt8(1), 0x20, 0x80] {
        var changed = bytes
        changed[index] ^= mask
        guard let text = String(validating: changed, as: UTF8.self),
          let read = try? TransactionContent(parsing: text)
        else { continue }
        #expect(read != content && read.json.utf8.elementsEqual(changed), "byte \(index)")
      }
    }
  }

  @Test(
    "unknown fields and misleading texts are refused",
    arguments: [
      "", "{}", "[]", #"{"from":"B"}"#, #"{"text":"x"}"#, #"{"from":"","text":"x"}"#,
      #"{"from":"B","text":""}"#, #"{"from":"B","text":"a\u202e"}"#,
      "{\"from\":\"B\",\"text\":\"a\u{202E}\"}",
      #"{"from":"B","initiated":"device","text":"x"}"#, #"{"initiated":"server","text":"x"}"#,
      #"{"from":"B","text":"x","urgent":"yes"}"#, #"{"context":{},"from":"B","text":"x"}"#,
      #"{"context":{"town":"x"},"from":"B","text":"x"}"#, #"{"context":{"place":""},"from":"B","text":"x"}"#,
      #"{"context":{"place":"a\nb"},"from":"B","text":"x"}"#, #"{"from":"a\nb","text":"x"}"#,
      #"{"form":{"fields":[],"template":"t"},"from":"B"}"#,
      #"{"form":{"fields":[{"label":"L","type":"text","value":"x"}],"template":"T"},"from":"B"}"#,
      #"{"form":{"fields":[{"label":"L","type":"text","value":"x"}],"template":"t"},"from":"B","text":"x"}"#,
      #"{"form":{"fields":[{"type":"text","value":"x"}],"template":"t"},"from":"B"}"#,
      #"{"form":{"fields":[{"type":"picture","value":"x"}],"template":"t"},"from":"B"}"#,
      #"{"form":{"fields":[{"bold":true,"label":"L","type":"text","value":"x"}],"template":"t"},"from":"B"}"#,
      #"{"form":{"fields":[{"label":"L","pairs":[],"type":"group"}],"template":"t"},"from":"B"}"#,
      #"{"form":{"fields":["x"],"template":"t"},"from":"B"}"#,
    ])
  func refuses(_ text: String) {
    #expect(throws: WireFailure.self) { try TransactionContent(parsing: text) }
  }

  @Test func holdsItsLimits() throws {
    let frame = try TransactionContent(.text("x"), from: Self.bank).json.utf8.count - 1
    let longest = String(repeating: "ß", count: (TransactionContent.maximumByteCount - frame) / 2)
    let content = try TransactionContent(.text(longest), from: Self.bank)
    #expect(try TransactionContent(parsing: content.json) == content)
    #expect(throws: WireFailure.self) { try TransactionContent(.text(longest + "ß"), from: Self.bank) }
    let field = try TransactionField(.date(CalendarDay("2026-11-21")))
    #expect(throws: Never.self) {
      try TransactionForm(template: "t", fields: .init(repeating: field, count: 32))
    }
    #expect(throws: WireFailure.self) {
      try TransactionForm(template: "t", fields: .init(repeating: field, count: 33))
    }
  }

  @Test(
    "an amount has one canonical form",
    arguments: [
      ("0.00", "EUR", true), ("0.01", "EUR", true), ("250.00", "EUR", true),
      ("999999999999999.99", "USD", true),
      ("250", "JPY", true), ("0", "JPY", true), ("1.234", "KWD", true), ("1.2345", "CLF", true),
      ("250", "EUR", false), ("250.0", "EUR", false), ("250.000", "EUR", false), ("0250.00", "EUR", false),
      ("00.00", "EUR", false), (".50", "EUR", false), ("1.", "JPY", false), ("1.00", "JPY", false),
      ("-1.00", "EUR", false), ("+1.00", "EUR", false), ("1,000.00", "EUR", false),
      ("1 000.00", "EUR", false),
      ("1e3", "JPY", false), ("", "JPY", false), ("١.٠٠", "EUR", false), ("1.00", "eur", false),
      ("1.00", "EURO", false), ("1.00", "€", false), ("1.0.0", "EUR", false),
      ("1000000000000000.00", "USD", false),
    ])
  func amounts(_ value: String, _ currency: String, _ isValid: Bool) {
    #expect(((try? MoneyAmount(value, currency: currency)) != nil) == isValid)
  }

  @Test(
    "a date must exist in the calendar",
    arguments: [
      ("2026-11-21", true), ("2028-02-29", true), ("2000-02-29", true), ("0001-01-01", true),
      ("9999-12-31", true),
      ("2026-02-29", false), ("1900-02-29", false), ("2026-13-01", false), ("2026-00-10", false),
      ("2026-04-31", false), ("2026-01-00", false), ("0000-01-01", false), ("2026-1-1", false),
      ("26-11-21", false),
      ("2026/11/21", false), ("2026-11-21T", false), ("+026-11-21", false), ("", false),
      ("٢٠٢٦-١١-٢١", false),
    ])
  func days(_ text: String, _ isValid: Bool) {
    #expect(((try? CalendarDay(text)) != nil) == isValid)
  }

  @Test func numbersToType() throws {
    for good in ["12", "000000"] { #expect(try MatchingNumber(good).digits == good) }
    for bad in ["", "1", "1234567", "12a", "１２", "-1"] {
      #expect(throws: WireFailure.self) { try MatchingNumber(bad) }
    }
    for count in MatchingNumber.digitCounts {
      #expect(MatchingNumber(digitCount: count, random: SystemRandomSource()).digits.utf8.count == count)
    }
    #expect(try MatchingNumber("0042").isSame(as: MatchingNumber("0042")))
    #expect(try !MatchingNumber("0042").isSame(as: MatchingNumber("042")))
  }

  @Test func cancellations() throws {
    let long = String(repeating: "é", count: 1000)
    for reason in Cancellation.Reason.allCases {
      for message in ["", "not me", long] {
        let cancellation = try Cancellation(reason, message: message)
        #expect(try Cancellation(parsing: cancellation.bytes) == cancellation)
      }
    }
    for bad in [long + "x", "a\nb", "a\u{1B}", "\u{202E}"] {
      #expect(throws: WireFailure.self) { try Cancellation(.userCancel, message: bad) }
    }
    for bad in ["", "{}", #"{"reason":"other"}"#, #"{"reason":"userCancel","message":7}"#] {
      #expect(throws: WireFailure.self) { try Cancellation(parsing: Array(bad.utf8)) }
    }
  }
}

/// Contents of all kinds, from a seed.
private struct SeededContent {
  private var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  private mutating func next(_ bound: Int) -> Int { random.next(below: bound) }

  private mutating func text(_ alphabet: String = "aZ09 \"\\/:,{}[]éß€字\u{1F332}") -> String {
    let scalars = Array(alphabet)
    return String((0...next(20)).map { _ in scalars[next(scalars.count)] })
  }

  private mutating func field() throws -> TransactionField {
    let label = next(2) == 0 ? nil : text()
    switch next(5) {
    case 0:
      return TransactionField(.amount(try MoneyAmount("\(next(100_000)).50", currency: "EUR")), label: label)
    case 1: return TransactionField(.payee(name: text(), account: next(2) == 0 ? nil : text()), label: label)
    case 2: return TransactionField(.text(text() + "\n" + text()), label: text())
    case 3:
      return TransactionField(
        .date(try CalendarDay("20\(10 + next(89))-0\(1 + next(9))-1\(next(10))")), label: label)
    default: return TransactionField(.group((0...next(3)).map { _ in .init(text(), text()) }), label: text())
    }
  }

  mutating func content() throws -> TransactionContent {
    let context: TransactionContext? =
      next(2) == 0
      ? nil
      : TransactionContext(
        address: next(2) == 0 ? nil : text(), browser: next(2) == 0 ? nil : text(), place: text())
    let origin = next(4) == 0 ? TransactionContent.Origin.device : .relyingParty(text())
    guard next(3) > 0 else { return try TransactionContent(.text(text()), from: origin, context: context) }
    var fields: [TransactionField] = []
    for _ in 0...next(5) { fields.append(try field()) }
    return try TransactionContent(
      .form(TransactionForm(template: text("az09.-"), fields: fields)), from: origin, context: context)
  }
}
