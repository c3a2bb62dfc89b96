public import SignetPolicy

extension PasswordChecks {
  /// The dictionary check of libpwquality, and no further rules.
  public static var linux: PasswordChecks { PasswordChecks(dictionary: CrackLibDictionary()) }
}
