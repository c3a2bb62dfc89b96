/// Text for a terminal that knows which parts of it are ours, so that no other part steers the terminal or passes for one of ours.
///
/// A string literal is trusted. What is interpolated is somebody else's, whatever its type, and is escaped
/// (``sanitised(_:limit:)``); only another `TerminalText`, an integer and what is marked `ours:` are taken as they are, and what is
/// marked `copied:` or `command:` has no bar in it:
///
/// ```swift
/// output.print("Approved by \(user) at \(server, limit: 200).")
/// ```
///
/// `Terminal.print` lays it out. On a terminal, a line that begins with somebody else's text gets the bar `| ` before it, and a line
/// is broken where the columns may be full by the widest count that a terminal may have. What goes on stands behind `  | ` where the
/// row has text of somebody else, and is indented where it has none. So the first column is ours in each row.
public struct TerminalText: Sendable {
  /// Where a part comes from.
  enum Origin: Hashable, Sendable {
    /// Trusted; may have line feeds.
    case ours
    /// Somebody else's, escaped; one line.
    case outside
    /// One word that is copied; it is not broken.
    case copied
    /// A command that is copied, escaped; one line, which is broken as a shell reads it.
    case command
    /// Rows that are laid out, each with something of ours before it.
    case laidOut
    /// Sequences of ours for colours, which take no columns.
    case style
  }

  struct Piece: Hashable, Sendable {
    var text: String
    var origin: Origin
  }

  private(set) var pieces: [Piece]

  /// An empty text.
  public init() { pieces = [] }

  /// Somebody else's text, escaped.
  ///
  /// - Parameters:
  ///   - text: Anything.
  ///   - limit: The most characters of the result, as ``sanitised(_:limit:)`` has it.
  public init(_ text: String, limit: Int? = nil) {
    pieces = [Piece(text: Self.sanitised(text, limit: limit), origin: .outside)]
  }

  /// Trusted text: of this program, and not from a file, a server or a person.
  ///
  /// - Parameter text: Printed as it is, with its line feeds.
  public init(ours text: String) { pieces = [Piece(text: text, origin: .ours)] }

  /// A word that people copy, such as a key, a pin or a URI: on a terminal it is not broken, and where it does not fit behind what stands
  /// before it, it has a line of its own.
  ///
  /// A terminal puts the rest of one that is longer than a row into the first column.
  ///
  /// - Parameter text: Visible ASCII characters; anything else is somebody else's text, as with ``init(_:limit:)``.
  public init(copied text: String) {
    let isWord = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    pieces = [Piece(text: Self.sanitised(text), origin: isWord ? .copied : .outside)]
  }

  /// A command of this program that people copy, escaped: as ``init(copied:)``, and where it is longer than a row it goes on in the next one
  /// behind a backslash.
  ///
  /// - Parameter text: Words as shells read them, with double quotes only where ``ShellLine/word(of:)`` has them.
  public init(command text: String) {
    pieces = [Piece(text: Self.sanitised(text), origin: .command)]
  }

  init(pieces: [Piece]) { self.pieces = pieces }

  /// The beginning of this text; what is cut is shown by `…`.
  ///
  /// - Parameter limit: The most characters of it.
  /// - Returns: The text, or its beginning.
  package func limited(to limit: Int) -> TerminalText {
    var (kept, count): ([Piece], Int) = ([], 0)
    for piece in pieces {
      let room = limit - count
      if piece.origin != .style { count += piece.text.count }
      guard count > limit else {
        kept.append(piece)
        continue
      }
      kept.append(Piece(text: String(piece.text.prefix(max(room - 1, 0))) + "…", origin: piece.origin))
      break
    }
    return TerminalText(pieces: kept)
  }

  /// This text between sequences that change the terminal's colours.
  package func between(_ before: String, _ after: String) -> TerminalText {
    TerminalText(
      pieces: [Piece(text: before, origin: .style)] + pieces + [Piece(text: after, origin: .style)])
  }

  /// Whether there is nothing to print.
  public var isEmpty: Bool { pieces.allSatisfy(\.text.isEmpty) }

  /// Adds a text at the end.
  public static func += (left: inout TerminalText, right: TerminalText) { left.pieces += right.pieces }

  /// Two texts, one after the other.
  public static func + (left: TerminalText, right: TerminalText) -> TerminalText {
    TerminalText(pieces: left.pieces + right.pieces)
  }
}

extension TerminalText: Hashable {
  /// Whether the same characters are printed.
  public static func == (left: TerminalText, right: TerminalText) -> Bool {
    left.description.unicodeScalars.elementsEqual(right.description.unicodeScalars)
  }

  /// Feeds what is printed.
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension TerminalText: CustomStringConvertible {
  /// The escaped text, as long as its lines are.
  public var description: String { pieces.map(\.text).joined() }
}

extension TerminalText: ExpressibleByStringInterpolation {
  /// A literal, which is trusted.
  public init(stringLiteral value: String) { self.init(ours: value) }

  /// A literal with other texts in it.
  public init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

  /// Collects trusted literals and what stands between them.
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

    /// Adds somebody else's text.
    ///
    /// - Parameters:
    ///   - value: Anything that has a description.
    ///   - limit: The most characters of it, as ``TerminalText/sanitised(_:limit:)`` has it.
    public mutating func appendInterpolation(_ value: some Any, limit: Int? = nil) {
      pieces += TerminalText(String(describing: value), limit: limit).pieces
    }

    /// Adds a text whose parts are known.
    public mutating func appendInterpolation(_ text: TerminalText) { pieces += text.pieces }

    /// Adds a number.
    public mutating func appendInterpolation(_ number: some BinaryInteger) { appendLiteral(String(number)) }

    /// Adds a word that people copy, as ``TerminalText/init(copied:)`` has it.
    public mutating func appendInterpolation(copied text: String) {
      pieces += TerminalText(copied: text).pieces
    }

    /// Adds a command that people copy, as ``TerminalText/init(command:)`` has it.
    public mutating func appendInterpolation(command text: String) {
      pieces += TerminalText(command: text).pieces
    }

    /// Adds trusted text.
    public mutating func appendInterpolation(ours text: some CustomStringConvertible) {
      appendLiteral(text.description)
    }
  }
}
