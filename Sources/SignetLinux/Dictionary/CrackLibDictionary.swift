import CPwquality
import SignetCrypto
public import SignetPolicy
import SignetSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The dictionary check of libpwquality, with a word list in cracklib's format.
///
/// It rejects words, reversed words, words surrounded by digits or with letters replaced by digits, palindromes, and
/// passwords with too few different characters. It also rejects every password below ``PasswordPolicy/dictionaryLength``
/// characters. The words are those of the list; Debian's list is ASCII only.
///
/// **Copies.** libpwquality frees its copies of the password without wiping them. So it runs in a forked child process,
/// whose end releases them.
public actor CrackLibDictionary: PasswordDictionary {
  /// The path of Debian's `cracklib-runtime` word list, without the extensions of its three files.
  public static let debianPath = "/var/cache/cracklib/cracklib_dict"

  private let path: String
  private let seconds: UInt32
  private let executor = BlockingExecutor(label: "signet.dictionary")

  /// The executor that reads the word list, which may block.
  nonisolated public var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Creates a dictionary; the word list is opened at each use.
  ///
  /// - Parameter path: The word list, without the extensions `.hwm`, `.pwd` and `.pwi`.
  public init(path: String = CrackLibDictionary.debianPath) { (self.path, seconds) = (path, 60) }

  /// Creates a dictionary with another time-out for reading the word list.
  package init(path: String, seconds: UInt32) { (self.path, self.seconds) = (path, seconds) }

  /// Returns true if a password is a word, or derived from one in an obvious way.
  ///
  /// - Parameter password: UTF-8 without a NUL byte, as ``OpaqueString`` prepares it.
  /// - Returns: True if the password must be rejected.
  /// - Throws: ``PasswordDictionaryFailure`` if there is no word list, it cannot be read within a minute, or memory is short.
  public func contains(utf8 password: [UInt8]) async throws(PasswordDictionaryFailure) -> Bool {
    // For a list that it cannot open, cracklib would only report a rejected password.
    try Self.requireReadable(path)
    return try DeadStack.wiped { () throws(PasswordDictionaryFailure) in
      try QualitySettings(dictionary: path).refuses(password, within: seconds)
    }
  }

  private static func requireReadable(_ path: String) throws(PasswordDictionaryFailure) {
    for ending in [".hwm", ".pwd", ".pwi"] where unsafe access(path + ending, R_OK) != 0 {
      throw .unreadable(path: path)
    }
  }
}

/// The settings of libpwquality for a dictionary check only, freed with their single owner.
@safe private struct QualitySettings: ~Copyable {
  private let raw: OpaquePointer
  private let path: String

  /// Disables all checks that the password policy makes itself.
  init(dictionary path: String) throws(PasswordDictionaryFailure) {
    guard let settings = unsafe pwquality_default_settings() else {
      throw .library(code: Int(PWQ_ERROR_MEM_ALLOC))
    }
    let numbers: [(Int32, Int32)] = [
      (PWQ_SETTING_MIN_LENGTH, 0), (PWQ_SETTING_DIG_CREDIT, 0), (PWQ_SETTING_UP_CREDIT, 0),
      (PWQ_SETTING_LOW_CREDIT, 0), (PWQ_SETTING_OTH_CREDIT, 0), (PWQ_SETTING_USER_CHECK, 0),
      (PWQ_SETTING_DICT_CHECK, 1),
    ]
    var code: Int32 = 0
    for (setting, value) in numbers where code == 0 {
      code = unsafe pwquality_set_int_value(settings, setting, value)
    }
    if code == 0 { code = unsafe pwquality_set_str_value(settings, PWQ_SETTING_DICT_PATH, path) }
    guard code == 0 else {
      unsafe pwquality_free_settings(settings)
      throw .library(code: Int(code))
    }
    unsafe raw = settings
    self.path = path
  }

  deinit { unsafe pwquality_free_settings(raw) }

  /// Returns true if libpwquality rejects a password as too easy.
  ///
  /// The corresponding C function is `pwquality_check`, in a child process.
  borrowing func refuses(
    _ password: [UInt8], within seconds: UInt32
  ) throws(PasswordDictionaryFailure) -> Bool {
    let terminated = UnsafeMutablePointer<CChar>.allocate(capacity: password.count + 1)
    defer {
      unsafe explicit_bzero(terminated, password.count + 1)
      unsafe terminated.deallocate()
    }
    for index in password.indices { unsafe terminated[index] = CChar(bitPattern: password[index]) }
    unsafe terminated[password.count] = 0

    var code: Int32 = 0
    let failure = unsafe CPwquality_check_apart(raw, terminated, seconds, &code)
    guard failure != ETIMEDOUT else { throw .tooSlow(path: path) }
    guard failure == 0 else { throw .library(code: Int(failure)) }
    switch code {
    case 0...: return false
    case PWQ_ERROR_CRACKLIB_CHECK, PWQ_ERROR_PALINDROME, PWQ_ERROR_MIN_LENGTH, PWQ_ERROR_EMPTY_PASSWORD:
      return true
    default: throw .library(code: Int(code))
    }
  }
}

extension PasswordChecks {
  /// The dictionary check of libpwquality, and no further rules.
  public static var linux: PasswordChecks { PasswordChecks(dictionary: CrackLibDictionary()) }
}
