public import SignetCrypto
public import SignetJSON
public import SignetOATH

/// The reasons why a file, a URI or an account cannot be read or written.
@nonexhaustive public enum InterchangeFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The format of the bytes is unknown.
  case unknownFormat
  /// The file is a Raivo archive or another ZIP.
  case zipArchive
  /// The file or member exceeds the limit, in bytes.
  case tooLarge(String, limit: Int)
  /// The text is not UTF-8.
  case notUTF8
  /// The JSON is malformed, or a member is missing or of another type.
  case json(JSONFailure)
  /// The XML is malformed or has unsupported content; the reason completes the sentence *the XML …*.
  case xml(reason: String)
  /// The file has an unknown version.
  case version(InterchangeFormat, Int64)
  /// The file is encrypted, and no password was given.
  case passwordNeeded(InterchangeFormat)
  /// The password is wrong, or the file was modified.
  case wrongPassword(InterchangeFormat)
  /// The encryption of the file is unsupported; the reason is a clause.
  case unsupportedEncryption(InterchangeFormat, reason: String)
  /// The file has no password slot, for example because only a fingerprint opens it.
  case noPasswordSlot
  /// A MAC does not verify: the file was modified, or the key is a different one.
  case macMismatch
  /// An encrypted value has no MAC.
  case macMissing
  /// The account is in plain text in an encrypted file.
  case notEncrypted
  /// There are more accounts than one import accepts.
  case tooManyAccounts(limit: Int)
  /// The parameters of the encryption are out of range.
  case crypto(CryptoFailure)

  /// The text is no URI of this kind.
  case notURI
  /// The URI has another scheme.
  case unsupportedScheme(String)
  /// A member is missing.
  case missing(String)
  /// A parameter occurs twice with different values.
  case repeated(String)
  /// A member has an invalid value; the reason is a predicate.
  case invalid(String, reason: String)
  /// The codes are not HOTP, TOTP or OCRA codes.
  case unsupportedType(String)
  /// The hash function is unsupported.
  case unsupportedAlgorithm(String)
  /// The secret is not Base32.
  case secret(Base32Failure)
  /// A parameter of the codes is out of range.
  case oath(OATHFailure)
  /// The OCRA suite or another OCRA parameter is invalid.
  case ocra(OCRAFailure)
  /// QR codes of a batch are missing; the numbers in `missing` start at 1.
  case incompleteBatch(missing: [Int], of: Int)
  /// Two QR codes of a batch contradict each other.
  case inconsistentBatch
  /// The format cannot represent the account; the reason completes the sentence *… cannot say …*.
  case notRepresentable(InterchangeFormat, reason: String)

  /// The reason and what to do about it; it never contains a secret.
  public var description: String {
    switch self {
    case .unknownFormat:
      "the format of this is not known; export it as JSON, PSKC or otpauth URIs and try again"
    case .zipArchive: "this is a ZIP archive; unpack it with its password, then import the JSON file in it"
    case .tooLarge(let item, let limit):
      "the \(item) is larger than \(limit) bytes; export fewer accounts at once"
    case .notUTF8: "the text is not UTF-8; save it as UTF-8 and try again"
    case .json(let failure): failure.description
    case .xml(let reason): "the XML \(reason); export the file again"
    case .version(let format, let version):
      "\(format.title) version \(version) is not known; export the file with another version of the app"
    case .passwordNeeded(let format): "the \(format.title) file is encrypted; give its password"
    case .wrongPassword(let format):
      "the password of the \(format.title) file is wrong, or the file was changed; try again"
    case .unsupportedEncryption(let format, let reason):
      "the \(format.title) file uses an encryption that is not supported: \(reason)"
    case .noPasswordSlot: "no password opens the file; export it with a password"
    case .macMismatch:
      "the authentication code is wrong: the key or password is another, or the file was changed"
    case .macMissing: "an encrypted value has no authentication code; nothing shows that it was not changed"
    case .notEncrypted:
      "it is not encrypted, in a file that is encrypted: anybody with access to the file can have added it"
    case .tooManyAccounts(let limit): "there are more than \(limit) accounts; export fewer at once"
    case .crypto(let failure): failure.description
    case .notURI: "this is not an otpauth URI; such a URI looks like otpauth://totp/Issuer:name?secret=…"
    case .unsupportedScheme(let scheme): "URIs of the scheme \(scheme) are not supported; use otpauth"
    case .missing(let member): "the \(member) is missing"
    case .repeated(let member): "the \(member) occurs twice, with different values"
    case .invalid(let member, let reason): "the \(member) \(reason)"
    case .unsupportedType(let type):
      "codes of the type \(type) are not supported; only HOTP, TOTP and, from PSKC, OCRA are"
    case .unsupportedAlgorithm(let name):
      "the algorithm \(name) is not supported; \(OATHAlgorithm.standardNames.joined(separator: ", ")) are, and for import \(OATHAlgorithm.importedNames.joined(separator: ", "))"
    case .secret(let failure): "the secret is not Base32: \(failure)"
    case .oath(let failure): failure.description
    case .ocra(let failure): failure.description
    case .incompleteBatch(let missing, let count):
      "of \(count) QR codes \(missing.map(String.init).joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") missing; scan all of them"
    case .inconsistentBatch: "the QR codes are of one export and contradict each other; export again"
    case .notRepresentable(let format, let reason): "\(format.title) cannot represent \(reason)"
    }
  }
}
