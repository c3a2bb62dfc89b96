import SignetCrypto
public import SignetOATH

/// An account of one-time codes, or of answers to challenges, on this device that no server of ours has made: it was imported.
public struct Account: Sendable, Hashable, Identifiable {
  /// The name of an account on this device: 16 random bytes.
  public struct ID: Sendable, Hashable, CustomStringConvertible {
    /// 32 hexadecimal digits in lower case.
    public let description: String

    /// An account's name from its ``description``; `nil` unless it is 32 hexadecimal digits.
    public init?(_ description: String) {
      let text = description.lowercased()
      guard text.utf8.count == 32, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }) else {
        return nil
      }
      self.description = text
    }

    /// The first 8 digits, by which people name it.
    package var shortForm: String { String(description.prefix(8)) }

    init(from random: any RandomSource) { description = Hex.encode(random.bytes(16)) }
  }

  /// Names it on this device.
  public let id: ID
  /// Who it is with; may be empty.
  public let issuer: String
  /// Whose it is, at the issuer; may be empty where the issuer is not.
  public let name: String
  /// Whether codes go by the time; else they go by a counter, which is not told here, or answer challenges.
  public let isTimed: Bool
  /// The seconds of a period; `nil` where codes do not go by the time.
  public let period: Int?
  /// What is computed from a challenge, and from what else; `nil` where codes answer none.
  public let suite: OCRASuite?
  /// The characters of a challenge, where the key takes fewer than the suite allows.
  public let challengeLengths: ClosedRange<Int>?
  /// The hash function.
  public let algorithm: OATHAlgorithm
  /// The length of a code.
  public let digits: Int
  /// Whether a check digit follows each code, which ``digits`` does not count.
  public let hasCheckDigit: Bool
  /// Whether the secret may leave this device.
  public let isExportable: Bool
  /// When it was imported, in seconds since 1970.
  public let imported: Int64

  init(_ record: AccountRecord, _ id: ID) {
    self.id = id
    (issuer, name) = (record.account.issuer, record.account.name)
    (algorithm, digits) = (record.account.algorithm, record.account.digits)
    (isExportable, imported) = (record.isExportable, record.imported)
    hasCheckDigit = record.account.hasCheckDigit
    switch record.account.kind {
    case .totp(let period, _):
      (isTimed, self.period, suite, challengeLengths) = (true, period, nil, nil)
    case .hotp:
      (isTimed, period, suite, challengeLengths) = (false, nil, nil, nil)
    case .ocra(let suite, let lengths, _):
      (isTimed, period, self.suite, challengeLengths) = (false, nil, suite, lengths)
    }
  }
}

extension Account: CustomStringConvertible {
  /// Issuer and name.
  public var description: String { issuer.isEmpty ? name : name.isEmpty ? issuer : "\(issuer) (\(name))" }
}

/// A code of an account.
public struct AccountCode: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// ASCII digits, with leading zeros.
  public let code: String
  /// Whole periods since the start, or the counter, which is one further by now.
  public let counter: UInt64
  /// When it is valid, in seconds since 1970; `nil` where codes go by a counter.
  public let validity: Range<Int64>?

  init(code: String, counter: UInt64, validity: Range<Int64>?) {
    (self.code, self.counter, self.validity) = (code, counter, validity)
  }

  /// The code of a container, which goes by the time.
  ///
  /// - Parameter code: The code.
  public init(_ code: TimedCode) {
    self.init(code: code.code, counter: code.counter, validity: code.validFrom..<code.validUntil)
  }

  /// Whether it is valid; one that goes by a counter is until a later one was used.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: Whether it is.
  public func isValid(at unixTime: Int64) -> Bool { timed?.isValid(at: unixTime) ?? true }

  /// How long it is valid yet.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: Seconds, 0 from its end on; `nil` where codes go by a counter.
  public func secondsLeft(at unixTime: Int64) -> Int64? { timed?.secondsLeft(at: unixTime) }

  /// How much of its time is over, for a bar beside the code.
  ///
  /// - Parameter unixTime: Seconds since 1970-01-01T00:00:00Z.
  /// - Returns: 0 before it begins, 1 from its end on; `nil` where codes go by a counter.
  public func progress(at unixTime: Int64) -> Double? { timed?.progress(at: unixTime) }

  private var timed: TimedCode? {
    validity.map {
      TimedCode(code: code, counter: counter, validFrom: $0.lowerBound, validUntil: $0.upperBound)
    }
  }

  /// When it is valid; never the code.
  public var description: String {
    validity.map { "one-time code, valid from \($0.lowerBound) until \($0.upperBound)" } ?? "one-time code"
  }

  /// No parts, so that a dump does not show the code.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The answer of an account to a challenge.
public struct AccountResponse: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// ASCII digits with leading zeros, or lower-case hexadecimal where the suite has no digits.
  public let response: String
  /// The counter, which is one further by now; `nil` where the suite has none.
  public let counter: UInt64?

  init(response: String, counter: UInt64?) { (self.response, self.counter) = (response, counter) }

  /// What it is; never the answer.
  public var description: String { "response to a challenge" }

  /// No parts, so that a dump does not show the answer.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What became of accounts that were to be added.
public struct AddedAccounts: Sendable {
  /// Those that were added.
  public internal(set) var added: [Account] = []
  /// Those that were there already with the same secret and parameters, by the names under which they are there.
  public internal(set) var duplicates: [Account] = []

  /// Nothing, which is what becomes of no accounts.
  public init() {}
}
