public import SignetCrypto
import SignetOATH

/// What a user types into a device that sees nothing of a transaction, to approve it with the digits that the device shows
/// (`docs/protocol.md` section 5.10).
///
/// The device knows the values that were typed, and nothing else: who shows this says so, before the digits are computed.
public struct TypedApproval: Hashable, Sendable {
  /// The most values.
  public static let maximumValueCount = 8
  /// The digits of a challenge.
  public static let challengeLength = 8

  /// Eight digits that stand for all of the transaction.
  public let challenge: String
  /// What the user says of it, in the order of the form's fields.
  public let values: [TypedValue]

  /// Reads what was typed.
  ///
  /// - Parameters:
  ///   - challenge: The eight digits that the relying party shows; spaces between them are good.
  ///   - values: The values that it asks for, in its order; none where it asks for none.
  /// - Throws: ``TypedApprovalFailure``.
  public init(challenge: String, values: [String] = []) throws(TypedApprovalFailure) {
    let digits = challenge.utf8.filter { $0 != UInt8(ascii: " ") }
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }), !digits.isEmpty else { throw .challengeFormat }
    guard digits.count <= Self.challengeLength else {
      throw .challengeTooLong(length: digits.count, limit: Self.challengeLength)
    }
    guard digits.count == Self.challengeLength else { throw .challengeFormat }
    guard values.count <= Self.maximumValueCount else {
      throw .tooManyValues(count: values.count, limit: Self.maximumValueCount)
    }
    var read: [TypedValue] = []
    for (index, value) in values.enumerated() {
      do throws(TypedValue.Failure) { read.append(try TypedValue(value)) } catch {
        throw .value(number: index + 1, error)
      }
    }
    (self.challenge, self.values) = (String(decoding: digits, as: UTF8.self), read)
  }

  /// What the user of a transaction has to type.
  ///
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - fields: The positions of the form's fields whose values are typed.
  /// - Throws: ``WireFailure`` for fields that can't be typed.
  public init(of transaction: OfflineTransaction, fields: [Int]) throws(WireFailure) {
    values = try Self.values(of: transaction.content.matter, at: fields)
    do throws(OCRAFailure) {
      let suite = try OCRASuite("OCRA-1:HOTP-SHA256-8:QN08")
      challenge = try OCRAChallenge(signing: [String(decoding: transaction.bytes, as: UTF8.self)], for: suite)
        .text
    } catch { preconditionFailure("a suite of fixed form is refused: \(error)") }
  }

  /// The values of a form's fields, as they are signed.
  ///
  /// - Parameters:
  ///   - matter: What is asked.
  ///   - fields: The positions of fields, from 0, rising.
  /// - Returns: A value for each.
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a field that there is not, or that can't be typed.
  public static func values(
    of matter: TransactionContent.Matter, at fields: [Int]
  ) throws(WireFailure) -> [TypedValue] {
    var form: [TransactionField] = []
    if case .form(let found) = matter { form = found.fields }
    guard fields.count <= maximumValueCount, zip(fields, fields.dropFirst()).allSatisfy({ $0 < $1 }),
      fields.allSatisfy(form.indices.contains)
    else {
      throw .invalid(
        member: "typed",
        reason: "has at most \(maximumValueCount) positions of the form's fields, from 0, rising")
    }
    var values: [TypedValue] = []
    for field in fields {
      do throws(TypedValue.Failure) { values.append(try form[field].typedValue()) } catch {
        throw .invalid(member: "typed", reason: "names field \(field), which can't be typed: it \(error)")
      }
    }
    return values
  }

  /// The answer of who approves: 8 digits, by OCRA (RFC 6287).
  ///
  /// - Parameters:
  ///   - otpSecret: The container's secret of one-time passwords, 32 bytes.
  ///   - container: Whose answer it is.
  /// - Returns: 8 digits.
  public func answer(otpSecret: borrowing SecretBytes, container: ContainerID) -> String {
    // No value has a line feed: where one ends and the next begins is signed.
    CarriedAnswer.digits(
      signing: [challenge] + values.map { "\n\($0)" }, suite: "OCRA-1:HOTP-SHA256-8:QA64",
      label: "signet/1 typed", otpSecret: otpSecret, container: container)
  }
}

extension TransactionField {
  /// What a user types of the field: an amount with its currency, a payee's account or else the name, a day, a text.
  fileprivate func typedValue() throws(TypedValue.Failure) -> TypedValue {
    switch value {
    case .amount(let amount): TypedValue(amount)
    case .payee(let name, let account): try TypedValue(account ?? name)
    case .text(let text): try TypedValue(text)
    case .date(let day): try TypedValue(day.text)
    case .group: throw .characters
    }
  }
}

/// Why what a user typed can't be answered.
@nonexhaustive public enum TypedApprovalFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The challenge has more digits than there are; both are counts.
  case challengeTooLong(length: Int, limit: Int)
  /// The challenge is not of eight digits.
  case challengeFormat
  /// There are more values than there can be.
  case tooManyValues(count: Int, limit: Int)
  /// A value can't be taken; the first is number 1.
  case value(number: Int, TypedValue.Failure)

  /// What is wrong, and what to do.
  public var description: String {
    switch self {
    case .challengeTooLong(let length, let limit):
      "the challenge has \(length) digits; type the \(limit) that are shown"
    case .challengeFormat:
      "the challenge has \(TypedApproval.challengeLength) digits; type those that are shown"
    case .tooManyValues(let count, let limit): "\(count) values were typed; there are at most \(limit)"
    case .value(let number, let failure): "value \(number) \(failure)"
    }
  }
}

extension TypedValue.Failure: CustomStringConvertible {
  /// The end of a sentence.
  public var description: String {
    switch self {
    case .tooLong(let length, let limit): "has \(length) characters; there are at most \(limit)"
    case .characters: "is not of letters from A to Z, digits and signs"
    case .separators:
      "may have decimal places or not: write it without thousands separators, and not with three decimal places (1.2550)"
    }
  }
}
