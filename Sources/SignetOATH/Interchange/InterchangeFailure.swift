public import SignetCrypto
public import SignetJSON

/// Why a file, a URI or one account in it was not read, or cannot be written.
@nonexhaustive public enum InterchangeFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The bytes are in no form that is known here.
  case unknownFormat
  /// A Raivo archive or another ZIP.
  case zipArchive
  /// The file or member is larger than is read; in bytes.
  case tooLarge(String, limit: Int)
  /// The text is not UTF-8.
  case notUTF8
  /// The JSON is malformed, or a member is missing or of another type.
  case json(JSONFailure)
  /// The XML is malformed or holds what is not read; the reason is the end of a sentence.
  case xml(reason: String)
  /// The file says that it is of a version that is not known.
  case version(InterchangeFormat, Int64)
  /// It is encrypted, and no password was given.
  case passwordNeeded(InterchangeFormat)
  /// The password is wrong, or the file was changed.
  case wrongPassword(InterchangeFormat)
  /// It is encrypted in a way that is not read; the reason is the end of a sentence.
  case unsupportedEncryption(InterchangeFormat, reason: String)
  /// It has no password that could be tried, such as one that a fingerprint alone opens.
  case noPasswordSlot
  /// A message authentication code is wrong: the file was changed, or the key is another.
  case macMismatch
  /// A value is encrypted without an authentication code.
  case macMissing
  /// The account is in plain text, in a file that is encrypted.
  case notEncrypted
  /// There are more accounts than are read at once.
  case tooManyAccounts(limit: Int)
  /// The parameters of the encryption are out of bounds.
  case crypto(CryptoFailure)

  /// The text is no URI of this kind.
  case notURI
  /// The URI has another scheme.
  case unsupportedScheme(String)
  /// A member is missing.
  case missing(String)
  /// A member is there twice, with different values.
  case repeated(String)
  /// A member has a value that it cannot have; the reason is the end of a sentence.
  case invalid(String, reason: String)
  /// The codes are of another type than HOTP, TOTP and OCRA.
  case unsupportedType(String)
  /// The hash function is none that is done here.
  case unsupportedAlgorithm(String)
  /// The secret is not Base32.
  case secret(Base32Failure)
  /// A parameter of the codes is out of bounds.
  case oath(OATHFailure)
  /// The suite of a key that answers challenges is none.
  case ocra(OCRAFailure)
  /// Parts of a batch are missing; `missing` counts from 1.
  case incompleteBatch(missing: [Int], of: Int)
  /// Two parts of a batch contradict each other.
  case inconsistentBatch
  /// The account has something that the format cannot say; the reason is the end of a sentence.
  case notRepresentable(InterchangeFormat, reason: String)

  /// What is wrong and what to do; never a secret.
  public var description: String {
    switch self {
    case .unknownFormat:
      "this is in no format that is known; export it as JSON, PSKC or otpauth URIs and try again"
    case .zipArchive: "this is a ZIP archive; unpack it with its password, then import the JSON file in it"
    case .tooLarge(let what, let limit):
      "the \(what) is larger than \(limit) bytes; export fewer accounts at once"
    case .notUTF8: "the text is not UTF-8; save it as UTF-8 and try again"
    case .json(let failure): failure.description
    case .xml(let reason): "the XML \(reason); export the file again"
    case .version(let format, let version):
      "\(format.title) version \(version) is not known; export the file with another version of the app"
    case .passwordNeeded(let format): "the \(format.title) file is encrypted; give its password"
    case .wrongPassword(let format):
      "the password of the \(format.title) file is wrong, or the file was changed; try again"
    case .unsupportedEncryption(let format, let reason):
      "the \(format.title) file is encrypted in a way that is not read: \(reason)"
    case .noPasswordSlot: "no password opens the file; export it with a password"
    case .macMismatch:
      "the authentication code is wrong: the key or password is another, or the file was changed"
    case .macMissing: "an encrypted value has no authentication code; nothing shows that it was not changed"
    case .notEncrypted:
      "it is not encrypted, in a file that is: whoever had the file in hand can have added it"
    case .tooManyAccounts(let limit): "there are more than \(limit) accounts; export fewer at once"
    case .crypto(let failure): failure.description
    case .notURI: "this is no otpauth URI; it looks like otpauth://totp/Issuer:name?secret=…"
    case .unsupportedScheme(let scheme): "URIs of the scheme \(scheme) are not read here; use otpauth"
    case .missing(let member): "the \(member) is missing"
    case .repeated(let member): "the \(member) is there twice, with different values"
    case .invalid(let member, let reason): "the \(member) \(reason)"
    case .unsupportedType(let type):
      "codes of the type \(type) are not made here; only HOTP, TOTP and, from PSKC, OCRA are"
    case .unsupportedAlgorithm(let name):
      "the algorithm \(name) is not supported; \(OATHAlgorithm.standardNames.joined(separator: ", ")) are, and for import \(OATHAlgorithm.importedNames.joined(separator: ", "))"
    case .secret(let failure): "the secret is not Base32: \(failure)"
    case .oath(let failure): failure.description
    case .ocra(let failure): failure.description
    case .incompleteBatch(let missing, let count):
      "of \(count) QR codes \(missing.map(String.init).joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") missing; scan all of them"
    case .inconsistentBatch: "the QR codes are of one export and contradict each other; export again"
    case .notRepresentable(let format, let reason): "\(format.title) cannot say \(reason)"
    }
  }
}
