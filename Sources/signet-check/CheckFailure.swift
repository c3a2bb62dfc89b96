import SignetCrypto
import SignetInterchange
import SignetJOSE
import SignetJSON
import SignetOATH
import SignetPolicy
import SignetProtocol
import SignetPushAuth
import SignetUAF

/// The error part of an answer, in place of `ok`.
struct CheckFailure: Error {
  /// The stable code; docs/signet-check.md lists all codes.
  let code: String
  /// A sentence for users, which may change.
  let message: String

  init(_ code: String, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Creates the failure for an invalid member of a request.
  init(invalid member: String, _ reason: String) {
    self.init("input.invalid", "\(member): \(reason)")
  }

  /// Translates the failures of the modules; this is the only place that does.
  init(translating error: any Error) {
    switch error {
    case let failure as CheckFailure: self = failure
    case let failure as JSONFailure: self.init(Self.code(failure), failure.description)
    case let failure as Base32Failure: self.init(Self.code(failure), failure.description)
    case let failure as OATHFailure: self.init(Self.code(failure), failure.description)
    case let failure as OCRAFailure: self.init(Self.code(failure), failure.description)
    case let failure as InterchangeFailure: self.init(Self.code(failure), failure.description)
    case let failure as JOSEFailure: self.init(Self.code(failure), failure.description)
    case let failure as AccountPolicyFailure: self.init("policy.invalid", failure.description)
    case let failure as CryptoFailure: self.init(Self.code(failure), failure.description)
    case let failure as PushAuthFailure: self.init(Self.code(failure), failure.description)
    case let failure as UAFReport.Failure: self.init(failure)
    case let failure as WireFailure: self.init(Self.code(failure), failure.description)
    default: self.init("internal", "an unforeseen failure; report this as a defect")
    }
  }

  private static func code(_ failure: JSONFailure) -> String {
    switch failure {
    case .missingMember: "input.missing"
    default: "input.invalid"
    }
  }

  private static func code(_ failure: Base32Failure) -> String {
    switch failure {
    case .symbol: "base32.symbol"
    case .misplacedPadding: "base32.padding"
    case .length: "base32.length"
    case .empty: "base32.empty"
    case .tooLong: "base32.tooLong"
    }
  }

  private static func code(_ failure: OATHFailure) -> String {
    switch failure {
    case .digitsOutOfRange: "oath.digits"
    case .periodOutOfRange: "oath.period"
    case .emptySecret: "oath.secret"
    case .beforeStart: "oath.time"
    default: "oath.other"
    }
  }

  private static func code(_ failure: OCRAFailure) -> String {
    switch failure {
    case .malformedSuite: "ocra.suite"
    case .challengeTooLong: "ocra.challengeTooLong"
    case .challengeFormat, .challengeTooShort: "ocra.challengeFormat"
    case .sessionTooLong: "ocra.session"
    case .emptySecret: "oath.secret"
    case .timeBeforeStart: "oath.time"
    default: "ocra.input"
    }
  }

  private static func code(_ failure: InterchangeFailure) -> String {
    switch failure {
    case .notURI, .notUTF8: "uri.malformed"
    case .tooLarge: "uri.tooLong"
    case .unsupportedScheme: "uri.scheme"
    case .unsupportedType: "uri.type"
    case .missing: "uri.missing"
    case .repeated: "uri.repeated"
    case .unsupportedAlgorithm: "uri.algorithm"
    case .secret(let failure): code(failure)
    case .oath(let failure): code(failure)
    case .notRepresentable: "uri.notRepresentable"
    default: "uri.invalid"
    }
  }

  private static func code(_ failure: PushAuthFailure) -> String {
    switch failure {
    case .token(let failure): code(failure)
    case .malformed: "push.malformed"
    case .missing: "push.missing"
    case .invalid: "push.invalid"
    case .weakSecret: "push.secret"
    default: "push.other"
    }
  }

  private static func code(_ failure: JOSEFailure) -> String {
    switch failure {
    case .tooLarge: "jose.tooLarge"
    case .wrongSegmentCount, .notBase64URL, .wrongLength, .malformedHeader, .malformedCritical:
      "jose.malformed"
    case .unknownCritical, .unencodedPayload, .compressed: "jose.extension"
    case .unsecured, .unsupportedAlgorithm, .algorithmNotAllowed: "jose.algorithm"
    case .emptySignature, .invalidSignature: "jws.signature"
    case .decryptionFailed: "jwe.decryption"
    case .malformedKey: "jwk.malformed"
    case .unsupportedKeyType, .unsupportedCurve: "jwk.unsupported"
    case .invalidKey: "jwk.invalid"
    case .weakKey: "jwk.weak"
    case .privateKeyMissing: "jwk.private"
    case .keyNotPermitted: "jwk.notPermitted"
    case .duplicateKeyID, .mixedKeySet: "jwk.set"
    case .keyNotFound: "jwk.notFound"
    default: "jose.other"
    }
  }

  private init(_ failure: UAFReport.Failure) {
    switch failure.part {
    case .message: self.init("uaf.message", failure.description)
    case .scheme: self.init("uaf.scheme", failure.description)
    case .assertion: self.init("uaf.assertion", failure.description)
    case .encoding: self.init(invalid: "assertionB64", failure.description)
    case .keyFormat: self.init(invalid: "keyFormat", failure.description)
    }
  }

  private static func code(_ failure: WireFailure) -> String {
    switch failure {
    case .json: "wire.malformed"
    case .unsupportedVersion: "wire.version"
    case .invalid: "wire.invalid"
    default: "wire.other"
    }
  }

  private static func code(_ failure: CryptoFailure) -> String {
    switch failure {
    case .invalidPoint, .invalidPublicKeyEncoding: "key.public"
    case .invalidPrivateKey: "key.private"
    default: "crypto.other"
    }
  }
}
