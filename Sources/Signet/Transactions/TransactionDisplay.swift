public import SignetProtocol

/// A transaction as lines for a screen: the requester and the complete signed content, with labels in the user's language.
///
/// Show every line. Only the device's own words depend on the language. Values of the content are shown unchanged,
/// numbers included, and the signature covers the content in any language.
public struct TransactionDisplay: Hashable, Sendable {
  /// One line, or a text of several lines, with its label.
  public struct Line: Hashable, Sendable {
    /// The kind of a line.
    public enum Role: Hashable, Sendable {
      /// The requester: the first line, and the only one with this role, so no field of a form can imitate it.
      case origin
      /// A part of the request.
      case content
      /// The circumstances of the user, such as place and browser, as the relying party states them.
      case context
    }

    /// The kind of the line.
    public let role: Role
    /// The label; `nil` for a text without one, and for a heading.
    public let label: String?
    /// The value from the content.
    public let value: String
    /// Indicates whether the line belongs to the heading above it.
    public let isInGroup: Bool

    init(_ label: String?, _ value: String, isInGroup: Bool = false, as role: Role = .content) {
      self.role = role
      self.label = label
      self.value = value
      self.isInGroup = isInGroup
    }
  }

  /// A title of one or two words.
  public let title: String
  /// The requester (missing if the user started the transaction), the request, and the user's circumstances.
  public let lines: [Line]

  /// Creates the lines of a content.
  public init(_ content: TransactionContent, in language: DisplayLanguage = .english) {
    var lines: [Line] = []
    if case .relyingParty(let name) = content.origin {
      lines.append(Line(language.word(.from), name, as: .origin))
    }
    switch content.body {
    case .text(let text):
      title = language.word(.question)
      lines.append(Line(nil, text))
    case .form(let form):
      title = language.title(of: form.template)
      lines += form.fields.flatMap { Self.lines(of: $0, language) }
    case .signIn:
      title = language.word(.login)
      lines.append(Line(nil, title))
    }
    let circumstances: [(DisplayLanguage.Word, String?)] = [
      (.place, content.context?.place), (.browser, content.context?.browser),
      (.address, content.context?.address),
    ]
    lines += circumstances.compactMap { word, text in text.map { Line(language.word(word), $0, as: .context) }
    }
    self.lines = lines
  }

  private static func lines(of field: TransactionField, _ language: DisplayLanguage) -> [Line] {
    switch field.value {
    case .amount(let amount):
      [Line(field.label ?? language.word(.amount), "\(amount.value) \(amount.currency)")]
    case .payee(let name, let account):
      [Line(field.label ?? language.word(.payee), name)]
        + (account.map { [Line(language.word(.account), $0, isInGroup: true)] } ?? [])
    case .text(let text): [Line(field.label, text)]
    case .date(let day): [Line(field.label ?? language.word(.date), day.text)]
    case .group(let pairs):
      [Line(nil, field.label ?? "")] + pairs.map { Line($0.name, $0.value, isInGroup: true) }
    }
  }
}
