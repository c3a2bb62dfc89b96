public import SignetWire

/// A transaction in lines for a screen: who asks, and all that will be signed, with words around it in the user's language.
///
/// Show every line. The words that are the device's own depend on the language; what is from the content is shown as it is
/// there, numbers included, and what is signed is the content, whatever the language.
public struct TransactionDisplay: Hashable, Sendable {
  /// A line, or a text of several, with what it is.
  public struct Line: Hashable, Sendable {
    /// What a line says.
    public enum Role: Hashable, Sendable {
      /// Who asks: the first line, and the only one of its kind. No field of a form can say that in its place.
      case origin
      /// What is asked.
      case matter
      /// Where the user is said to be.
      case context
    }

    /// What it says.
    public let role: Role
    /// What it is; `nil` for a text that stands alone, and for a heading.
    public let label: String?
    /// What the content says.
    public let value: String
    /// Whether it belongs to the heading above it.
    public let isInGroup: Bool

    init(_ label: String?, _ value: String, isInGroup: Bool = false, as role: Role = .matter) {
      (self.role, self.label, self.value, self.isInGroup) = (role, label, value, isInGroup)
    }
  }

  /// What it is about, in a word or two.
  public let title: String
  /// Who asks, unless it is the user's own wish; what is asked; and where the user is said to be.
  public let lines: [Line]

  /// Lays a content out.
  public init(_ content: TransactionContent, in language: DisplayLanguage = .english) {
    var lines: [Line] = []
    if case .relyingParty(let name) = content.origin {
      lines.append(Line(language.word(.from), name, as: .origin))
    }
    switch content.matter {
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
    let places: [(DisplayLanguage.Word, String?)] = [
      (.place, content.context?.place), (.browser, content.context?.browser),
      (.address, content.context?.address),
    ]
    lines += places.compactMap { word, text in text.map { Line(language.word(word), $0, as: .context) } }
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
