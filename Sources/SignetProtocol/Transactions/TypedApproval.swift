public import SignetCrypto
import SignetOATH

/// The input of a user who approves a transaction on a device that cannot display it (`docs/protocol.md` section 5.10).
///
/// The device responds with digits. It knows nothing of the transaction but the typed values. An app must warn the user of
/// that before it computes the response.
public struct TypedApproval: Hashable, Sendable {
  /// The largest number of values.
  public static let maximumValueCount = 8
  /// The number of digits of a challenge.
  public static let challengeLength = 8

  /// The eight digits derived from the whole transaction.
  public let challenge: String
  /// The values that the user typed, in the order of the form's fields.
  public let values: [TypedValue]

  /// Parses typed input.
  ///
  /// - Parameters:
  ///   - challenge: The eight digits that the relying party displays; spaces between them are allowed.
  ///   - values: The values that the relying party asks for, in its order; may be empty.
  /// - Throws: ``TypedApprovalFailure`` for a malformed challenge or value.
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
    var parsed: [TypedValue] = []
    for (index, value) in values.enumerated() {
      do throws(TypedValue.Failure) { parsed.append(try TypedValue(value)) } catch {
        throw .value(number: index + 1, error)
      }
    }
    (self.challenge, self.values) = (String(decoding: digits, as: UTF8.self), parsed)
  }

  /// Computes the input that a transaction's user has to type.
  ///
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - fields: The indices of the form's fields whose values the user types.
  /// - Throws: ``WireFailure`` for indices that ``values(of:at:)`` rejects.
  public init(of transaction: OfflineTransaction, fields: [Int]) throws(WireFailure) {
    values = try Self.values(of: transaction.content.body, at: fields)
    do throws(OCRAFailure) {
      let suite = try OCRASuite("OCRA-1:HOTP-SHA256-8:QN08")
      challenge = try OCRAChallenge(signing: [String(decoding: transaction.bytes, as: UTF8.self)], for: suite)
        .text
    } catch { preconditionFailure("a suite of fixed form is refused: \(error)") }
  }

  /// Returns the values of a form's fields in their signed form.
  ///
  /// - Parameters:
  ///   - content: The question to the user.
  ///   - fields: The indices of fields, from 0, ascending.
  /// - Returns: A value for each index.
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for an index without a field, or a field that cannot be typed.
  public static func values(
    of content: TransactionContent.Body, at fields: [Int]
  ) throws(WireFailure) -> [TypedValue] {
    var formFields: [TransactionField] = []
    if case .form(let form) = content { formFields = form.fields }
    guard fields.count <= maximumValueCount, zip(fields, fields.dropFirst()).allSatisfy({ $0 < $1 }),
      fields.allSatisfy(formFields.indices.contains)
    else {
      throw .invalid(
        member: "typed",
        reason: "must have at most \(maximumValueCount) positions of the form's fields, from 0, rising")
    }
    var values: [TypedValue] = []
    for field in fields {
      do throws(TypedValue.Failure) { values.append(try formFields[field].typedValue()) } catch {
        throw .invalid(member: "typed", reason: "names field \(field), which can't be typed: it \(error)")
      }
    }
    return values
  }

  /// Computes the response that approves the transaction, with OCRA (RFC 6287).
  ///
  /// - Parameters:
  ///   - otpSecret: The container's one-time password secret, 32 bytes.
  ///   - container: The container that responds.
  /// - Returns: The response, 8 digits.
  public func answer(otpSecret: borrowing SecretBytes, container: ContainerID) -> String {
    // No value has a line feed, so the line feeds mark where each value starts: the boundaries are signed too.
    OfflineResponse.digits(
      signing: [challenge] + values.map { "\n\($0)" }, suite: "OCRA-1:HOTP-SHA256-8:QA64",
      label: "signet/1 typed", otpSecret: otpSecret, container: container)
  }
}

extension TransactionField {
  /// Returns the typed form of the field: an amount with its currency, a payee's account or name, a day or a text.
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

/// The reasons why typed input is rejected.
@nonexhaustive public enum TypedApprovalFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The challenge has too many digits; both values are numbers of digits.
  case challengeTooLong(length: Int, limit: Int)
  /// The challenge is not eight digits.
  case challengeFormat
  /// There are too many values.
  case tooManyValues(count: Int, limit: Int)
  /// A value is rejected; the first value has number 1.
  case value(number: Int, TypedValue.Failure)

  /// The reason and what to do about it.
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
  /// A predicate that completes a sentence such as *value 2 …*.
  public var description: String {
    switch self {
    case .tooLong(let length, let limit): "has \(length) characters; there are at most \(limit)"
    case .characters: "has a character other than A to Z, digits and punctuation"
    case .separators:
      "is ambiguous: write it without thousands separators, and not with three decimal places (1.2550)"
    }
  }
}
