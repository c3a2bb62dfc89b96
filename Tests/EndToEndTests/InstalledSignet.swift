import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// The tested `signet` with one data folder.
struct InstalledSignet: Sendable {
  /// The data folder, which the command creates.
  let data: String
  /// The file of trusted certificates; `nil` for the system's.
  var authority: String?
  /// The launcher, for other users and other limits.
  var launcher: [String] = []
  /// The program; `nil` for the one at `Programs.path`.
  var program: String?
  /// The address of the session bus; `nil` for none.
  var sessionBus: String?
  /// The time to derive a key from a password, in milliseconds; `nil` for the program's default.
  ///
  /// The default here is the least that a vault allows.
  var passwordTime: Int? = 1
  /// The locale in which it runs.
  var locale = "C.UTF-8"

  /// Prepares a process; `passwords` are its lines on the descriptor of `--password-fd`.
  func process(_ words: [String], passwords: [String] = []) throws -> ChildCommand {
    var line = launcher + [try program ?? Self.executable(), "--data", data] + words
    if !passwords.isEmpty { line += ["--password-fd", "0"] }
    var environment = ServerCommand.cleanEnvironment
    environment["SIGNET_CA_FILE"] = authority
    environment["SIGNET_PASSWORD_TIME"] = passwordTime.map(String.init)
    environment["LC_ALL"] = locale
    environment["DBUS_SESSION_BUS_ADDRESS"] = sessionBus
    return ChildCommand(
      line, environment: environment, input: passwords.isEmpty ? .none : .lines(passwords))
  }

  static func executable() throws -> String { try Programs.path("signet") }

  /// Returns the same with an uninstalled copy of the program.
  ///
  /// An installed one has a group, so the loader removes variables that load code from its environment.
  func uninstalled(in folder: TemporaryFolder) throws -> InstalledSignet {
    var command = self
    let path = folder.file("signet")
    if !FileManager.default.fileExists(atPath: path) { try Nobody.link(Self.executable(), to: path) }
    command.program = path
    return command
  }

  /// The build flavor of the programs: installed ones are a release; those next to the test bundle match it.
  static var flavour: String {
    #if DEBUG
      ProcessInfo.processInfo.environment["SIGNET_PROGRAMS"] == nil ? "debug" : "release"
    #else
      "release"
    #endif
  }

  /// Runs the command to its end.
  func run(_ words: String..., passwords: [String] = []) async throws -> ServerCommand.Result {
    try await run(words, passwords: passwords)
  }

  func run(_ words: [String], passwords: [String] = []) async throws -> ServerCommand.Result {
    try await process(words, passwords: passwords).finish()
  }

  /// Runs the command with `--json`; it must succeed.
  func json(_ words: String..., passwords: [String] = []) async throws -> JSONObject {
    let result = try await run(words + ["--json"], passwords: passwords)
    try #require(result.status == 0, "signet \(words): status \(result.status), \(result.errorOutput)")
    return try JSONObject(parsing: Array(result.output.utf8))
  }

  /// The containers in the folder, which must exist.
  func containers() async throws -> [ListedContainer] {
    try await json("list").array("containers").map { value in
      guard case .object(let object) = value else { throw JSONFailure.missingMember("id") }
      return ListedContainer(
        id: try object.string("id"), user: try object.string("user"),
        isConfirmed: try object.bool("confirmed"))
    }
  }

  /// A container in the output of `signet list --json`.
  struct ListedContainer: Hashable, Sendable {
    let id: String
    let user: String
    let isConfirmed: Bool
  }
}

extension ServerCommand.Result {
  /// Indicates whether the command failed with this status and an error message that contains the text, without output.
  func isRefusal(_ status: Int32, _ text: String) -> Bool {
    self.status == status && errorOutput.contains(text) && output.isEmpty
  }

  var summary: Comment { "status \(status), output \(output), messages \(errorOutput)" }
}
