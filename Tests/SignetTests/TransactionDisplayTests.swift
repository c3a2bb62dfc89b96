import Signet
import Testing

/// The display of a transaction: complete, with words in the user's language.
@Suite struct TransactionDisplayTests {
  private static func payment() throws -> TransactionContent {
    try TransactionContent(
      .form(
        TransactionForm(
          template: "payment",
          fields: [
            TransactionField(.amount(MoneyAmount("1250.00", currency: "EUR"))),
            TransactionField(.payee(name: "Jane Doe", account: "DE02 1203")),
            TransactionField(.date(CalendarDay("2026-11-21")), label: "Due"),
            TransactionField(.text("Invoice 7"), label: "Reference"),
            TransactionField(.group([.init("Transfer", "0.15 EUR")]), label: "Fees"),
          ])), from: .relyingParty("Example Bank"),
      context: TransactionContext(address: "192.0.2.7", browser: "Firefox 128", place: "Bern"))
  }

  private static func words(_ content: TransactionContent, _ language: DisplayLanguage) -> [String] {
    let display = TransactionDisplay(content, in: language)
    return [display.title]
      + display.lines.map {
        ($0.isInGroup ? "  " : "") + ($0.label.map { "\($0): " } ?? "") + $0.value
      }
  }

  @Test("labels follow the language; signed content and values do not")
  func languages() throws {
    let content = try Self.payment()
    #expect(
      Self.words(content, .english) == [
        "Payment", "From: Example Bank", "Amount: 1250.00 EUR", "Payee: Jane Doe", "  Account: DE02 1203",
        "Due: 2026-11-21",
        "Reference: Invoice 7", "Fees", "  Transfer: 0.15 EUR", "Place: Bern", "Browser: Firefox 128",
        "Address: 192.0.2.7",
      ])
    #expect(
      Self.words(content, DisplayLanguage(locale: "de_CH.UTF-8")).prefix(5) == [
        "Zahlung", "Von: Example Bank", "Betrag: 1250.00 EUR", "Empfänger: Jane Doe", "  Konto: DE02 1203",
      ])
    #expect(
      Self.words(content, DisplayLanguage(locale: "fr-CA")).prefix(4) == [
        "Paiement", "De: Example Bank", "Montant: 1250.00 EUR", "Bénéficiaire: Jane Doe",
      ])
    #expect(
      Self.words(content, DisplayLanguage(locale: "es")).prefix(4) == [
        "Pago", "De: Example Bank", "Importe: 1250.00 EUR", "Beneficiario: Jane Doe",
      ])
    let values = DisplayLanguage.allCases.map { TransactionDisplay(content, in: $0).lines.map(\.value) }
    #expect(Set(values).count == 1)
    for other in ["C", "POSIX", "", "deu", "xx_YY"] { #expect(DisplayLanguage(locale: other) == .english) }
  }

  @Test("the requester is the first line and cannot be imitated; a user's own text has none")
  func origin() throws {
    let display = TransactionDisplay(try Self.payment())
    #expect(display.lines.first == display.lines.first { $0.role == .origin })
    #expect(display.lines.filter { $0.role == .origin }.map(\.value) == ["Example Bank"])
    #expect(
      display.lines.filter { $0.role == .context }.map(\.value) == ["Bern", "Firefox 128", "192.0.2.7"])
    let posing = try TransactionContent(
      .form(
        TransactionForm(
          template: "payment", fields: [TransactionField(.text("Your Bank"), label: "From")])),
      from: .relyingParty("Shop"))
    #expect(TransactionDisplay(posing).lines.map(\.role) == [.origin, .content])
    let own = try TransactionContent(.text("Pay"), from: .device)
    #expect(TransactionDisplay(own).lines.map(\.role) == [.content])
  }

  @Test("an unknown template and a plain text are shown unchanged")
  func generic() throws {
    let field = try TransactionField(.amount(MoneyAmount("1", currency: "JPY")), label: "Deposit")
    let other = try TransactionContent(
      .form(TransactionForm(template: "lease.v2", fields: [field])), from: .device)
    #expect(Self.words(other, .german) == ["lease.v2", "Deposit: 1 JPY"])
    let text = try TransactionContent(.text("Pay\n1 €"), from: .device)
    #expect(Self.words(text, .german) == ["Frage", "Pay\n1 €"])
  }
}
