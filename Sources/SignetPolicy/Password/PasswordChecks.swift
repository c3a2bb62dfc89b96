import SignetCrypto

/// The checks of a new password that a device or an app adds to the policy.
public struct PasswordChecks: Sendable {
  /// The dictionary for policies that require one; without it no password satisfies such a policy.
  public var dictionary: (any PasswordDictionary)?
  /// The app's own rules, checked in order.
  public var validators: [any PasswordValidator]

  /// Creates a set of checks.
  public init(dictionary: (any PasswordDictionary)? = nil, validators: [any PasswordValidator] = []) {
    self.dictionary = dictionary
    self.validators = validators
  }
}

/// A dictionary of passwords that attackers guess first, such as words and simple variants.
public protocol PasswordDictionary: Sendable {
  /// Looks up a password.
  ///
  /// - Parameter password: The password as ``OpaqueString`` prepares it, as UTF-8 without a NUL byte. The caller wipes it.
  /// - Returns: True if the password must be rejected.
  /// - Throws: ``PasswordDictionaryFailure`` if the lookup failed.
  func contains(utf8 password: [UInt8]) async throws(PasswordDictionaryFailure) -> Bool
}

/// Why a password could not be looked up.
@nonexhaustive public enum PasswordDictionaryFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The policy requires a dictionary and none is set.
  case missing
  /// The dictionary is missing or unreadable.
  case unreadable(path: String)
  /// The dictionary was not read within the time limit.
  case tooSlow(path: String)
  /// The lookup library failed; the code is the library's.
  case library(code: Int)

  /// The cause and the remedy.
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

/// An app's own rule for new passwords, such as one that asks a server.
public protocol PasswordValidator: Sendable {
  /// Returns the rules that a password breaks.
  ///
  /// - Parameters:
  ///   - password: The password as typed, UTF-8, at most ``OpaqueString/maximumByteCount`` bytes. Do not keep it.
  ///   - purpose: The purpose of the password.
  /// - Returns: One ``PasswordViolation/custom(rule:message:)`` for each broken rule; empty to accept. A validator that
  ///   cannot decide returns such a violation that says so.
  func violations(ofUTF8 password: [UInt8], for purpose: PasswordPurpose) async -> [PasswordViolation]
}

/// The purpose of a new password.
public enum PasswordPurpose: Sendable, Hashable {
  /// The first password of a container or key.
  case enrolment
  /// A password that replaces another.
  case change
}

extension PasswordPolicy {
  /// Returns every rule that a new password breaks: characters, history, dictionary, and the app's own rules.
  ///
  /// - Parameters:
  ///   - password: UTF-8, of any length. The caller wipes it.
  ///   - purpose: What it is for.
  ///   - isReused: Whether it is among the latest ``PasswordRules/maximumHistory`` passwords, which only their keeper can tell.
  ///   - checks: The dictionary and the app's rules.
  /// - Returns: The policy's rules in the order of the JSON form, then the rules of every policy, then the app's.
  /// - Throws: ``PasswordDictionaryFailure`` if the policy requires a dictionary that cannot be read.
  public func violations(
    ofUTF8 password: [UInt8], purpose: PasswordPurpose, isReused: Bool = false, checks: PasswordChecks
  ) async throws(PasswordDictionaryFailure) -> [PasswordViolation] {
    var violations = violations(ofUTF8: password)
    var further: [PasswordViolation] = []
    if isReused, rules.maximumHistory > 0 { further.append(.reused(history: rules.maximumHistory)) }
    if rules.checksDictionary, try await isInDictionary(password, checks.dictionary) {
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

  /// Looks a password up; a text that cannot be prepared is rejected by another rule and not looked up.
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
