/// Text for a terminal that knows which parts of it are ours, so that no other part steers the terminal or passes for one of ours.
///
/// A string literal is trusted. What is interpolated is somebody else's, whatever its type, and is escaped
/// (``sanitised(_:limit:)``); only another `TerminalText`, an integer and what is marked `ours:` are taken as they are:
///
/// ```swift
/// output.print("Approved by \(user) at \(server, limit: 200).")
/// ```
///
/// `Terminal.print` lays it out. On a terminal, a line that begins with somebody else's text gets the bar `| ` before it, and a line
/// that has any is broken where the columns may be full by the widest count that a terminal may have; what goes on stands behind
/// `  | `. So the first column is ours in each row.
public struct TerminalText: Sendable {
  /// Where a part comes from.
  enum Origin: Hashable, Sendable {
    /// Trusted; may have line feeds.
    case ours
    /// Somebody else's, escaped; one line.
    case outside
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

  init(pieces: [Piece]) { self.pieces = pieces }

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

    /// Adds trusted text.
    public mutating func appendInterpolation(ours text: some CustomStringConvertible) {
      appendLiteral(text.description)
    }
  }
}
