import SignetWire

/// A transaction in lines for authenticators that know nothing but a text, in English: who asks, what, and where the user is said to be.
///
/// The first line alone says who asks, whatever a text or a label after it looks like.
struct RequestText: Sendable {
  /// The lines, with line feeds between them.
  let text: String

  /// Lays a content out.
  init(_ content: TransactionContent) {
    var lines: [String] = []
    if case .relyingParty(let name) = content.origin { lines.append("From: \(name)") }
    switch content.matter {
    case .text(let text): lines.append(text)
    case .form(let form): lines += form.fields.flatMap(Self.lines)
    }
    let places = [
      ("Place", content.context?.place), ("Browser", content.context?.browser),
      ("Address", content.context?.address),
    ]
    lines += places.compactMap { label, value in value.map { "\(label): \($0)" } }
    text = lines.joined(separator: "\n")
  }

  private static func lines(of field: TransactionField) -> [String] {
    switch field.value {
    case .amount(let amount): ["\(field.label ?? "Amount"): \(amount.value) \(amount.currency)"]
    case .payee(let name, let account):
      ["\(field.label ?? "Payee"): \(name)"] + (account.map { ["Account: \($0)"] } ?? [])
    case .text(let text): ["\(field.label ?? "Text"): \(text)"]
    case .date(let day): ["\(field.label ?? "Date"): \(day.text)"]
    case .group(let pairs): ["\(field.label ?? ""):"] + pairs.map { "\($0.name): \($0.value)" }
    }
  }
}
