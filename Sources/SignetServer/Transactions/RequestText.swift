import SignetProtocol

/// A transaction as English text for authenticators that display only text: requester, content and the user's place.
///
/// Only the first line names the requester. Therefore a text that is displayed alone must not begin with a similar line
/// (``looksLikeSender(_:)``).
struct RequestText: Sendable {
  /// The label of the first line, reserved for the server.
  private static let sender = "From"
  /// The lines, separated by line feeds.
  let text: String

  init(_ content: TransactionContent) {
    var lines: [String] = []
    if case .relyingParty(let name) = content.origin { lines.append("\(Self.sender): \(name)") }
    switch content.body {
    case .text(let text): lines.append(text)
    case .form(let form): lines += form.fields.flatMap(Self.lines)
    case .signIn: lines.append("Sign in")
    }
    let contextMembers = [
      ("Place", content.context?.place), ("Browser", content.context?.browser),
      ("Address", content.context?.address),
    ]
    lines += contextMembers.compactMap { label, value in value.map { "\(label): \($0)" } }
    text = lines.joined(separator: "\n")
  }

  /// Returns the texts that may represent a content in evidence.
  ///
  /// These are the lines and, if the content is only a text, also the text alone. A relying party that creates its own
  /// operation or message shows the text alone.
  static func forms(of content: TransactionContent) -> [String] {
    var forms = [RequestText(content).text]
    if case .text(let text) = content.body, !looksLikeSender(text) { forms.append(text) }
    return forms
  }

  /// Returns true if a text begins with a line like the one that names the requester.
  ///
  /// Whitespace, invisible characters and letter case are ignored. A reader would take such a line for the server's.
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
