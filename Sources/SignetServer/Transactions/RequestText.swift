import SignetWire

/// A transaction in lines for authenticators that know nothing but a text, in English: who asks, what, and where the user is said to be.
///
/// The first line alone says who asks, whatever a text or a label after it looks like: a text that is shown by itself does not begin with
/// what looks like it (``looksLikeSender(_:)``).
struct RequestText: Sendable {
  /// What the server begins the first line with; nobody else does.
  private static let sender = "From"
  /// The lines, with line feeds between them.
  let text: String

  /// Lays a content out.
  init(_ content: TransactionContent) {
    var lines: [String] = []
    if case .relyingParty(let name) = content.origin { lines.append("\(Self.sender): \(name)") }
    switch content.matter {
    case .text(let text): lines.append(text)
    case .form(let form): lines += form.fields.flatMap(Self.lines)
    case .signIn: lines.append("Sign in")
    }
    let places = [
      ("Place", content.context?.place), ("Browser", content.context?.browser),
      ("Address", content.context?.address),
    ]
    lines += places.compactMap { label, value in value.map { "\(label): \($0)" } }
    text = lines.joined(separator: "\n")
  }

  /// The texts that show a content: these lines and, where it asks nothing but a text, the text by itself, which a relying party has confirmed in
  /// an operation or by a message of its own.
  static func forms(of content: TransactionContent) -> [String] {
    var forms = [RequestText(content).text]
    if case .text(let text) = content.matter, !looksLikeSender(text) { forms.append(text) }
    return forms
  }

  /// Whether a text that is shown by itself begins with what the server names the relying party by, blank lines, what nobody sees and the
  /// case of letters aside: its reader would take it for the server's word.
  static func looksLikeSender(_ text: String) -> Bool {
    let visible = text.unicodeScalars.filter { scalar in
      let properties = scalar.properties
      return !properties.isDefaultIgnorableCodePoint && properties.generalCategory != .format
        && (properties.isWhitespace || properties.generalCategory != .control)
    }
    let start = String(String.UnicodeScalarView(visible)).drop(while: \.isWhitespace)
    guard start.prefix(sender.count).lowercased() == sender.lowercased() else { return false }
    let rest = start.dropFirst(sender.count).drop(while: \.isWhitespace)
    return rest.first == ":" || rest.first == "\u{FF1A}"
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
