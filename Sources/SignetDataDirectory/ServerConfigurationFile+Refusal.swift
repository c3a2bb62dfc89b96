extension ServerConfigurationFile {
  /// Why settings were refused; the caller adds the file's name.
  package enum Refusal: Error {
    /// The file has this format, which this build does not read.
    case tooNew(Int64)
    /// A setting is missing, unknown or invalid; the text names it and the reason.
    case reason(String)
  }
}
