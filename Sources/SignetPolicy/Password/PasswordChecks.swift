import SignetCrypto

/// What a device or an app brings to the check of a new password, beside the policy.
public struct PasswordChecks: Sendable {
  /// The dictionary for policies that ask for one; without it such a policy cannot be satisfied.
  public var dictionary: (any PasswordDictionary)?
  /// The app's own rules, asked in order.
  public var validators: [any PasswordValidator]

  /// Names both.
  public init(dictionary: (any PasswordDictionary)? = nil, validators: [any PasswordValidator] = []) {
    self.dictionary = dictionary
    self.validators = validators
  }
}

/// Knows which passwords are made from words, or in other ways that are guessed first.
public protocol PasswordDictionary: Sendable {
  /// Whether a password is one of them.
  ///
  /// - Parameter password: As ``OpaqueString`` prepares it, as UTF-8 without a NUL byte. The caller wipes it.
  /// - Returns: Whether it must not be used.
  /// - Throws: ``PasswordDictionaryFailure`` if nobody knows.
  func contains(utf8 password: [UInt8]) async throws(PasswordDictionaryFailure) -> Bool
}

/// Why a password could not be looked up.
@nonexhaustive public enum PasswordDictionaryFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The policy asks for a dictionary and there is none.
  case missing
  /// The dictionary is not where it should be, or not readable.
  case unreadable(path: String)
  /// The dictionary could not be read in time.
  case tooSlow(path: String)
  /// The library that looks words up failed, with its code.
  case library(code: Int)

  /// What is wrong and what to do.
  public var description: String {
    switch self {
    case .missing: "the policy asks for a dictionary check and this device has no dictionary; add one"
    case .unreadable(let path): "there is no password dictionary at \(path); install cracklib-runtime"
    case .tooSlow(let path):
      "the password dictionary at \(path) can't be read in time; check its disk, and try again"
    case .library(let code): "the dictionary check failed with code \(code); try again"
    }
  }
}

/// A rule for new passwords that an app brings itself, such as one that asks a server.
public protocol PasswordValidator: Sendable {
  /// The rules that a password breaks.
  ///
  /// - Parameters:
  ///   - password: As the user entered it, UTF-8, at most ``OpaqueString/maximumByteCount`` bytes. It is not to be kept.
  ///   - purpose: What the password is for.
  /// - Returns: ``PasswordViolation/custom(rule:message:)`` for each; empty to accept. Whoever cannot tell refuses with
  ///   such a violation, which says so.
  func violations(ofUTF8 password: [UInt8], for purpose: PasswordPurpose) async -> [PasswordViolation]
}

/// What a new password is for.
public enum PasswordPurpose: Sendable, Hashable {
  /// The first password of a container or key.
  case enrolment
  /// A password that follows another.
  case change
}

extension PasswordPolicy {
  /// Every rule that a new password breaks: those about its characters, the history, the dictionary, and the app's own.
  ///
  /// - Parameters:
  ///   - password: UTF-8, of any length. The caller wipes it.
  ///   - purpose: What it is for.
  ///   - isReused: Whether it is among the latest ``maximumHistory`` passwords, which only their keeper can tell.
  ///   - checks: The dictionary and the app's rules.
  /// - Returns: The rules in the order of the JSON form, those that every policy has, then the app's.
  /// - Throws: ``PasswordDictionaryFailure`` where the policy asks for a dictionary that cannot be read.
  public func violations(
    ofUTF8 password: [UInt8], purpose: PasswordPurpose, isReused: Bool = false, checks: PasswordChecks
  ) async throws(PasswordDictionaryFailure) -> [PasswordViolation] {
    var violations = violations(ofUTF8: password)
    var further: [PasswordViolation] = []
    if isReused, maximumHistory > 0 { further.append(.reused(history: maximumHistory)) }
    if checksDictionary, try await isInDictionary(password, checks.dictionary) {
      further.append(.inDictionary)
    }
    let general =
      violations.firstIndex { $0 == .disallowedCharacter || $0 == .notUTF8 } ?? violations.endIndex
    violations.insert(contentsOf: further, at: general)
    guard password.count <= OpaqueString.maximumByteCount else { return violations }
    for validator in checks.validators {
      violations += await validator.violations(ofUTF8: password, for: purpose)
    }
    return violations
  }

  /// Looks a password up; what cannot be a password at all is refused already, and not looked up.
  private func isInDictionary(
    _ password: [UInt8], _ dictionary: (any PasswordDictionary)?
  ) async throws(PasswordDictionaryFailure) -> Bool {
    guard let dictionary else { throw .missing }
    var prepared: [UInt8]
    do { prepared = try OpaqueString.prepare(utf8: password) } catch { return false }
    defer { prepared.wipe() }
    return try await dictionary.contains(utf8: prepared)
  }
}
