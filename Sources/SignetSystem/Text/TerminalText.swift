/// Text for a terminal with its parts marked as trusted or foreign, so that foreign text cannot control the terminal or
/// imitate trusted text.
///
/// A string literal is trusted. Interpolated values are foreign, whatever their type, and are escaped
/// (``sanitised(_:limit:)``). The exceptions are another `TerminalText`, an integer and values with the label `ours:`, which
/// are not escaped. Values with the label `copied:` or `command:` have no bar inside:
///
/// ```swift
/// output.print("Approved by \(user) at \(server, limit: 200).")
/// ```
///
/// `Terminal.print` lays it out. On a terminal, a line that starts with foreign text gets the prefix `| `. A line is broken
/// where the widest possible count fills the columns. A continuation row starts with `  | ` if it has foreign text, and is
/// indented otherwise. So the first column of each row is trusted.
public struct TerminalText: Sendable {
  /// The origin of a part.
  enum Origin: Hashable, Sendable {
    /// Trusted; may have line feeds.
    case ours
    /// Foreign and escaped; one line.
    case outside
    /// One word to copy; it is not broken.
    case copied
    /// A command to copy, escaped; one line, which is broken in shell syntax.
    case command
    /// Finished rows, each with a trusted prefix.
    case formatted
    /// Trusted colour sequences, which take no columns.
    case style
  }

  struct Piece: Hashable, Sendable {
    var text: String
    var origin: Origin
  }

  private(set) var pieces: [Piece]

  /// Creates an empty text.
  public init() { pieces = [] }

  /// Creates escaped foreign text.
  ///
  /// - Parameters:
  ///   - text: Any text.
  ///   - limit: The maximum number of characters of the result, as in ``sanitised(_:limit:)``.
  public init(_ text: String, limit: Int? = nil) {
    pieces = [Piece(text: Self.sanitised(text, limit: limit), origin: .outside)]
  }

  /// Creates trusted text, which must not come from a file, a server or a user.
  ///
  /// - Parameter text: Printed unchanged, with its line feeds.
  public init(ours text: String) { pieces = [Piece(text: text, origin: .ours)] }

  /// Creates a word to copy, such as a key, a pin or a URI.
  ///
  /// A terminal does not break it. If it does not fit after the text before it, it gets its own line. If it is longer than a
  /// row, the terminal continues it in the first column.
  ///
  /// - Parameter text: Visible ASCII characters; any other text counts as foreign text, as with ``init(_:limit:)``.
  public init(copied text: String) {
    let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    pieces = [Piece(text: Self.sanitised(text), origin: isPlain ? .copied : .outside)]
  }

  /// Creates an escaped command of this program to copy.
  ///
  /// It is laid out like ``init(copied:)``, but if it is longer than a row, it continues on the next one after a backslash.
  ///
  /// - Parameter text: Words in shell syntax, with double quotes only as in ``ShellLine/word(of:)``.
  public init(command text: String) {
    pieces = [Piece(text: Self.sanitised(text), origin: .command)]
  }

  init(pieces: [Piece]) { self.pieces = pieces }

  /// Returns the beginning of this text; `…` marks the cut.
  ///
  /// - Parameter limit: The maximum number of characters.
  /// - Returns: The text, or its beginning.
  package func limited(to limit: Int) -> TerminalText {
    var (result, count): ([Piece], Int) = ([], 0)
    for piece in pieces {
      let remaining = limit - count
      if piece.origin != .style { count += piece.text.count }
      guard count > limit else {
        result.append(piece)
        continue
      }
      result.append(Piece(text: String(piece.text.prefix(max(remaining - 1, 0))) + "…", origin: piece.origin))
      break
    }
    return TerminalText(pieces: result)
  }

  /// Returns this text between colour sequences.
  package func between(_ before: String, _ after: String) -> TerminalText {
    TerminalText(
      pieces: [Piece(text: before, origin: .style)] + pieces + [Piece(text: after, origin: .style)])
  }

  /// True if there is nothing to print.
  public var isEmpty: Bool { pieces.allSatisfy(\.text.isEmpty) }

  /// Appends a text.
  public static func += (left: inout TerminalText, right: TerminalText) { left.pieces += right.pieces }

  /// Concatenates two texts.
  public static func + (left: TerminalText, right: TerminalText) -> TerminalText {
    TerminalText(pieces: left.pieces + right.pieces)
  }
}

extension TerminalText: Hashable {
  /// Returns true if both print the same characters.
  public static func == (left: TerminalText, right: TerminalText) -> Bool {
    left.description.unicodeScalars.elementsEqual(right.description.unicodeScalars)
  }

  /// Hashes the printed characters.
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension TerminalText: CustomStringConvertible {
  /// The escaped text, without line breaks for a width.
  public var description: String { pieces.map(\.text).joined() }
}

extension TerminalText: ExpressibleByStringInterpolation {
  /// Creates trusted text from a literal.
  public init(stringLiteral value: String) { self.init(ours: value) }

  /// Creates text from a literal with interpolated values.
  public init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

  /// Collects trusted literals and interpolated values.
  public struct StringInterpolation: StringInterpolationProtocol {
    var pieces: [Piece] = []

    /// Prepares for a literal.
    public init(literalCapacity: Int, interpolationCount: Int) {
      pieces.reserveCapacity(2 * interpolationCount + 1)
    }

    /// Adds a part of the literal.
    public mutating func appendLiteral(_ literal: String) {
      if !literal.isEmpty { pieces.append(Piece(text: literal, origin: .ours)) }
    }

    /// Adds foreign text.
    ///
    /// - Parameters:
    ///   - value: Any value; its description is used.
    ///   - limit: The maximum number of characters, as in ``TerminalText/sanitised(_:limit:)``.
    public mutating func appendInterpolation(_ value: some Any, limit: Int? = nil) {
      pieces += TerminalText(String(describing: value), limit: limit).pieces
    }

    /// Adds a text with known origins.
    public mutating func appendInterpolation(_ text: TerminalText) { pieces += text.pieces }

    /// Adds a number.
    public mutating func appendInterpolation(_ number: some BinaryInteger) { appendLiteral(String(number)) }

    /// Adds a word to copy, as in ``TerminalText/init(copied:)``.
    public mutating func appendInterpolation(copied text: String) {
      pieces += TerminalText(copied: text).pieces
    }

    /// Adds a command to copy, as in ``TerminalText/init(command:)``.
    public mutating func appendInterpolation(command text: String) {
      pieces += TerminalText(command: text).pieces
    }

    /// Adds trusted text.
    public mutating func appendInterpolation(ours text: some CustomStringConvertible) {
      appendLiteral(text.description)
    }
  }
}
