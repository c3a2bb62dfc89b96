import SignetCrypto
public import SignetOATH

/// An imported or enrolled account of one-time codes or challenge responses, which no Signet server has provisioned.
public struct Account: Sendable, Hashable, Identifiable {
  /// The ID of an account on this device: 16 random bytes.
  public struct ID: Sendable, Hashable, CustomStringConvertible {
    /// 32 hexadecimal digits in lower case.
    public let description: String

    /// Creates an ID from its ``description``; `nil` unless it is 32 hexadecimal digits.
    public init?(_ description: String) {
      let text = description.lowercased()
      guard text.utf8.count == 32, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }) else {
        return nil
      }
      self.description = text
    }

    /// The first 8 digits, for display.
    package var shortForm: String { String(description.prefix(8)) }

    init(from random: any RandomSource) { description = Hex.encode(random.bytes(16)) }
  }

  /// The ID on this device.
  public let id: ID
  /// The issuer; may be empty.
  public let issuer: String
  /// The user's account name at the issuer; may be empty if the issuer is not.
  public let name: String
  /// Indicates whether codes depend on the time (TOTP); otherwise they depend on a counter or answer challenges.
  public let isTimed: Bool
  /// The length of a time period in seconds; `nil` unless codes depend on the time.
  public let period: Int?
  /// The OCRA suite; `nil` if the account answers no challenges.
  public let suite: OCRASuite?
  /// The allowed length of a challenge in characters, if the key allows fewer than the suite.
  public let challengeLengths: ClosedRange<Int>?
  /// The hash function.
  public let algorithm: OATHAlgorithm
  /// The number of digits of a code.
  public let digits: Int
  /// Indicates whether a check digit follows each code; ``digits`` does not count it.
  public let hasCheckDigit: Bool
  /// Indicates whether the secret may be exported from this device.
  public let isExportable: Bool
  /// The time of the import, in seconds since 1970.
  public let imported: Int64

  init(_ record: AccountRecord, _ id: ID) {
    self.id = id
    issuer = record.account.issuer
    name = record.account.name
    algorithm = record.account.algorithm
    digits = record.account.digits
    isExportable = record.isExportable
    imported = record.imported
    hasCheckDigit = record.account.hasCheckDigit
    switch record.account.kind {
    case .totp(let period, _):
      isTimed = true
      self.period = period
      suite = nil
      challengeLengths = nil
    case .hotp:
      isTimed = false
      period = nil
      suite = nil
      challengeLengths = nil
    case .ocra(let suite, let lengths, _):
      isTimed = false
      period = nil
      self.suite = suite
      challengeLengths = lengths
    }
  }
}

extension Account: CustomStringConvertible {
  /// The issuer and the name.
  public var description: String { issuer.isEmpty ? name : name.isEmpty ? issuer : "\(issuer) (\(name))" }
}

/// A code of an account.
public struct AccountCode: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// ASCII digits, with leading zeros.
  public let code: String
  /// The number of whole periods since the start, or the HOTP counter, which has been incremented since.
  public let counter: UInt64
  /// The validity in seconds since 1970; `nil` for a counter-based code.
  public let validity: Range<Int64>?

  init(code: String, counter: UInt64, validity: Range<Int64>?) {
    self.code = code
    self.counter = counter
    self.validity = validity
  }

  /// Creates a code from that of a container, which is time-based.
  ///
  /// - Parameter code: The code.
  public init(_ code: TimedCode) {
    self.init(code: code.code, counter: code.counter, validity: code.validFrom..<code.validUntil)
  }

  /// Returns whether the code is valid at a time; a counter-based code is valid until a later one was used, so the result
  /// is always true.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: True if it is valid.
  public func isValid(at unixTime: Int64) -> Bool { timed?.isValid(at: unixTime) ?? true }

  /// Returns the remaining validity.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: Seconds, 0 from its end on; `nil` for a counter-based code.
  public func secondsLeft(at unixTime: Int64) -> Int64? { timed?.secondsLeft(at: unixTime) }

  /// Returns the elapsed fraction of the validity, for a progress bar.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: 0 before it begins, 1 from its end on; `nil` for a counter-based code.
  public func progress(at unixTime: Int64) -> Double? { timed?.progress(at: unixTime) }

  private var timed: TimedCode? {
    validity.map {
      TimedCode(code: code, counter: counter, validFrom: $0.lowerBound, validUntil: $0.upperBound)
    }
  }

  /// The validity, without the code.
  public var description: String {
    validity.map { "one-time code, valid from \($0.lowerBound) until \($0.upperBound)" } ?? "one-time code"
  }

  /// An empty mirror, so that a dump does not show the code.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The response of an account to a challenge.
public struct AccountResponse: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// ASCII digits with leading zeros, or lower-case hexadecimal if the suite has no digits.
  public let response: String
  /// The counter, which has been incremented since; `nil` if the suite has none.
  public let counter: UInt64?

  init(response: String, counter: UInt64?) { (self.response, self.counter) = (response, counter) }

  /// A fixed text, without the response.
  public var description: String { "response to a challenge" }

  /// An empty mirror, so that a dump does not show the response.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The result of adding accounts.
public struct AddedAccounts: Sendable {
  /// The added accounts.
  public internal(set) var added: [Account] = []
  /// The existing accounts with the same secret and parameters, under their existing names.
  public internal(set) var duplicates: [Account] = []

  /// Creates an empty result.
  public init() {}
}
