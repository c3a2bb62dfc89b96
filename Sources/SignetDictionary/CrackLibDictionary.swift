import CPwquality
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif
import SignetConcurrency
import SignetCrypto
public import SignetPolicy

/// The dictionary check of libpwquality, with a word list in cracklib's format.
///
/// It refuses words, words backwards, words with digits around them or letters written as digits, palindromes, and what
/// has too few different characters; and every password below ``PasswordPolicy/dictionaryLength`` characters. Words are
/// those of the list, and of ASCII as far as Debian's goes.
///
/// **Copies.** libpwquality frees its copies of the password and does not wipe them. So it runs in a copy of this process, which ends
/// with them.
public actor CrackLibDictionary: PasswordDictionary {
  /// Where Debian's `cracklib-runtime` puts its word list, without the endings of its three files.
  public static let debianPath = "/var/cache/cracklib/cracklib_dict"

  private let path: String
  private let seconds: UInt32
  private let executor = BlockingExecutor(label: "signet.dictionary")

  /// Where the word list is read, which may block.
  nonisolated public var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Names a word list, which is looked for when it is used.
  ///
  /// - Parameter path: The word list, without the endings `.hwm`, `.pwd` and `.pwi`.
  public init(path: String = CrackLibDictionary.debianPath) { (self.path, seconds) = (path, 60) }

  /// The same with another bound on how long a word list may take to be read.
  package init(path: String, seconds: UInt32) { (self.path, self.seconds) = (path, seconds) }

  /// Whether a password is a word, or made from one in an obvious way.
  ///
  /// - Parameter password: UTF-8 without a NUL byte, as ``OpaqueString`` prepares it.
  /// - Returns: Whether it must not be used.
  /// - Throws: ``PasswordDictionaryFailure`` if there is no word list, it can't be read within a minute, or memory is short.
  public func contains(utf8 password: [UInt8]) async throws(PasswordDictionaryFailure) -> Bool {
    // cracklib says of a list that it cannot open only that the password is refused.
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

/// The settings of libpwquality for a dictionary check and nothing else, freed with their single owner.
@safe private struct QualitySettings: ~Copyable {
  private let raw: OpaquePointer
  private let path: String

  /// Turns off all that a policy of ours counts itself.
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

  /// Whether libpwquality finds a password too easy.
  ///
  /// The corresponding C function is `pwquality_check`, in a process of its own.
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
