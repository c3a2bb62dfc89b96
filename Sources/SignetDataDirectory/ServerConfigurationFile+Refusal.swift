extension ServerConfigurationFile {
  /// Why settings were refused; the caller adds the file's name.
  package enum Refusal: Error {
    /// The file has this format, which is none that this build reads.
    case tooNew(Int64)
    /// A setting is missing, unknown or not allowed; the text names it and says why.
    case reason(String)
  }
}
