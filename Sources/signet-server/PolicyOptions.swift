import Foundation
import SignetJSON
import SignetPolicy
import SignetTerminal

/// The options of `init` that take a whole policy instead of its parts.
enum PolicyOptions {
  static let all: [Option] = [
    .value(
      "policy",
      "The whole policy: a policy string (NUM=6;MINLEN=6;…), or the name of a profile: legacy-compat, nist-aal2, psd2, pin-6",
      named: "policy"),
    .value(
      "policy-file", "A file with the whole policy: a policy string or JSON", named: "file", completion: .file
    ),
  ]

  /// The options that say a part of what a whole policy says.
  private static var parts: [String] { PasswordOptions.all.map(\.name) + ["protection", "attempts"] }

  /// The policy that is given as a whole, if one is.
  ///
  /// - Parameter arguments: The command line; warnings go to its error output.
  /// - Returns: The policy; `nil` where its parts are given.
  /// - Throws: `UsageFailure` with every error that the linter finds, `CommandFailure` for a file that is not readable.
  static func policy(_ arguments: Arguments) throws -> ProtectionPolicy? {
    let given = ["policy", "policy-file"].filter { arguments.count($0) > 0 }
    guard let option = given.first else { return nil }
    guard given.count == 1 else { throw UsageFailure.refused("--policy goes without --policy-file") }
    for part in parts where arguments.count(part) > 0 {
      throw UsageFailure.refused("--\(part) goes without --\(option), which says it all")
    }
    let value = arguments.string(option)
    if option == "policy", let profile = PolicyProfile(rawValue: value) { return profile.policy }
    let review = PolicyReview(text: option == "policy" ? value : try text(value))
    let errors = review.findings.filter { $0.severity == .error }
    guard let policy = review.policy else {
      let reasons = errors.isEmpty ? ["it lacks a type"] : errors.map(\.description)
      throw UsageFailure.refused("--\(option): \(reasons.joined(separator: "; "))")
    }
    switch policy {
    case .biometric, .devicePasscode:
      throw UsageFailure.refused(
        "--\(option): a container is opened by the device, or with a password; use another type")
    default: break
    }
    for finding in review.findings where finding.severity == .warning {
      arguments.errorOutput.print("warning: \(TerminalText.sanitised(finding.description, limit: 1000))")
    }
    return policy
  }

  private static func text(_ path: String) throws -> String {
    let limit = 65_536
    let bytes: Data?
    do { bytes = try FileHandle(forReadingFrom: URL(filePath: path)).read(upToCount: limit + 1) } catch {
      throw CommandFailure(.noInput, "\(path) cannot be read; name a file with a policy")
    }
    guard let bytes, bytes.count <= limit, let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.dataError, "\(path) is no policy: it is empty, above 64 KiB, or no UTF-8 text")
    }
    return text
  }
}
