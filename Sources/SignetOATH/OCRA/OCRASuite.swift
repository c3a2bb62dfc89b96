/// An OCRA suite (RFC 6287 section 6): the function and its inputs, such as `OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1`.
///
/// The text is part of every response, so it is kept as written. Letters are case-insensitive and inputs have the standard's
/// order. `P`, `S` and `T` without a value have the standard's defaults: SHA1, 64 bytes, 1 minute.
public struct OCRASuite: Sendable, Hashable, CustomStringConvertible {
  /// The longest accepted suite, in bytes; the longest of the standard has 39.
  public static let maximumByteCount = 64

  /// The suite as written.
  public let description: String
  /// The hash function of the HMAC.
  public let algorithm: OATHAlgorithm
  /// The length of a response: 4 to 10 digits, or 0 for the whole HMAC in hexadecimal.
  public let digits: Int
  /// Indicates whether a counter of 8 bytes is an input.
  public let hasCounter: Bool
  /// The character set of a challenge.
  public let challengeFormat: OCRAChallengeFormat
  /// The longest challenge of one side, 4 to 64 characters; the shortest has one character.
  public let maximumChallengeLength: Int
  /// The hash function of the PIN; `nil` if the PIN is no input.
  public let pinHash: OATHAlgorithm?
  /// The length of the session information, 1 to 512 bytes; `nil` if it is no input.
  public let sessionByteCount: Int?
  /// The time step, 1 to 172,800 seconds; `nil` if the time is no input.
  public let timeStep: Int?

  /// Parses a suite.
  ///
  /// - Parameter text: Three parts with colons between them, in ASCII.
  /// - Throws: ``OCRAFailure/malformedSuite(_:)`` with the reason.
  public init(_ text: String) throws(OCRAFailure) {
    guard text.utf8.count <= Self.maximumByteCount else { throw .malformedSuite("it is too long") }
    guard text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw .malformedSuite("it has a character that is not allowed")
    }
    let parts = text.uppercased().split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformedSuite("it does not have three parts separated by colons") }
    guard parts[0] == "OCRA-1" else { throw .malformedSuite("only OCRA-1 is known") }
    let function = try Self.function(parts[1])
    var inputs = Inputs(parts[2])
    description = text
    (algorithm, digits) = function
    hasCounter = inputs.consume { $0 == "C" ? true : nil } ?? false
    guard let challenge = try inputs.consumeValue(after: "Q", Self.challenge) else {
      throw .malformedSuite("it has no challenge, Qxnn")
    }
    (challengeFormat, maximumChallengeLength) = challenge
    pinHash = try inputs.consumeValue(after: "P", Self.pinHash)
    sessionByteCount = try inputs.consumeValue(after: "S", Self.sessionByteCount)
    timeStep = try inputs.consumeValue(after: "T", Self.timeStep)
    try inputs.finish()
  }

  private static func function(_ text: Substring) throws(OCRAFailure) -> (OATHAlgorithm, Int) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "HOTP" else {
      throw .malformedSuite("its function is not HOTP-SHA…-digits")
    }
    guard let algorithm = OATHAlgorithm(name: String(parts[1])) else {
      throw .malformedSuite(
        "its hash function is not one of \(OATHAlgorithm.standardNames.joined(separator: ", "))")
    }
    guard let digits = number(parts[2]), digits == 0 || HOTP.truncatedDigits.contains(digits),
      String(digits).utf8.elementsEqual(parts[2].utf8)
    else { throw .malformedSuite("its number of digits is neither 0 nor 4 to 10") }
    return (algorithm, digits)
  }

  private static func challenge(_ text: Substring) throws(OCRAFailure) -> (OCRAChallengeFormat, Int) {
    guard !text.isEmpty else { return (.numeric, 8) }
    let failure = OCRAFailure.malformedSuite("its challenge is not QA, QN or QH with a length from 04 to 64")
    guard text.utf8.count == 3, let first = text.first,
      let format = OCRAChallengeFormat(rawValue: String(first)),
      let length = number(text.dropFirst()), (4...64).contains(length)
    else { throw failure }
    return (format, length)
  }

  private static func pinHash(_ text: Substring) throws(OCRAFailure) -> OATHAlgorithm {
    guard !text.isEmpty else { return .sha1 }
    guard let hash = OATHAlgorithm(name: String(text)) else {
      let supported = OATHAlgorithm.standardNames.map { "P\($0)" }.joined(separator: ", ")
      throw .malformedSuite("its PIN is not one of \(supported)")
    }
    return hash
  }

  private static func sessionByteCount(_ text: Substring) throws(OCRAFailure) -> Int {
    guard !text.isEmpty else { return 64 }
    guard text.utf8.count == 3, let count = number(text), (1...512).contains(count) else {
      throw .malformedSuite("its session is not S with a length from 001 to 512")
    }
    return count
  }

  private static func timeStep(_ text: Substring) throws(OCRAFailure) -> Int {
    guard let unit = text.last else { return 60 }
    let failure = OCRAFailure.malformedSuite("its time step is not T with 1 to 59 S or M, or 1 to 48 H")
    guard (2...3).contains(text.utf8.count), let count = number(text.dropLast()) else { throw failure }
    switch unit {
    case "S" where (1...59).contains(count): return count
    case "M" where (1...59).contains(count): return count * 60
    case "H" where (1...48).contains(count): return count * 3600
    default: throw failure
    }
  }

  /// Parses one to three ASCII digits.
  private static func number(_ text: Substring) -> Int? {
    guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    return Int(text)
  }

  /// The data inputs, consumed from the front.
  private struct Inputs {
    private var rest: ArraySlice<Substring>

    init(_ text: Substring) { rest = text.split(separator: "-", omittingEmptySubsequences: false)[...] }

    mutating func consume<Value>(_ parse: (Substring) -> Value?) -> Value? {
      guard let first = rest.first, let value = parse(first) else { return nil }
      rest.removeFirst()
      return value
    }

    /// Consumes the next input if it begins with `letter`, and returns its value.
    mutating func consumeValue<Value>(
      after letter: Character, _ parse: (Substring) throws(OCRAFailure) -> Value
    ) throws(OCRAFailure) -> Value? {
      guard let text = consume({ $0.first == letter ? $0.dropFirst() : nil }) else { return nil }
      return try parse(text)
    }

    func finish() throws(OCRAFailure) {
      guard let first = rest.first else { return }
      throw .malformedSuite("its input “\(first)” is unknown, or not in its place: C-Q-P-S-T")
    }
  }
}

/// The character set of a challenge (RFC 6287 section 6.3).
public enum OCRAChallengeFormat: String, Sendable, Hashable, CaseIterable {
  /// Letters and digits of ASCII.
  case alphanumeric = "A"
  /// Digits, which are read as one decimal number.
  case numeric = "N"
  /// Hexadecimal digits.
  case hexadecimal = "H"

  /// The allowed characters.
  var characters: String.UTF8View {
    switch self {
    case .alphanumeric: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8
    case .numeric: "0123456789".utf8
    case .hexadecimal: "0123456789ABCDEFabcdef".utf8
    }
  }
}
