import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// The `signet` that is tested, over one data folder.
struct InstalledSignet: Sendable {
  /// The data folder; the command makes it.
  let data: String
  /// The file with the certificates that it trusts; the system's where this is nil.
  var authority: String?
  /// What starts it, for other users and other limits.
  var launcher: [String] = []
  /// The program, where it is not `Programs.path`.
  var program: String?
  /// The address of the session's bus; none where this is nil.
  var sessionBus: String?
  /// How many milliseconds a password costs: the least that a vault makes; what programs choose by themselves where this is nil.
  var passwordTime: Int? = 1
  /// The locale that it runs in.
  var locale = "C.UTF-8"

  /// A process that is ready to start; `passwords` are its lines on the descriptor that `--password-fd` names.
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

  /// The same with a copy of the program that is not installed: an installed one has a group of its own, and the loader then
  /// takes out of its environment what loads code.
  func uninstalled(in folder: TemporaryFolder) throws -> InstalledSignet {
    var command = self
    let path = folder.file("signet")
    if !FileManager.default.fileExists(atPath: path) { try Nobody.link(Self.executable(), to: path) }
    command.program = path
    return command
  }

  /// What the programs were built as: installed ones are a release, and those beside the test bundle are what it is.
  static var flavour: String {
    #if DEBUG
      ProcessInfo.processInfo.environment["SIGNET_PROGRAMS"] == nil ? "debug" : "release"
    #else
      "release"
    #endif
  }

  /// Runs it to its end.
  func run(_ words: String..., passwords: [String] = []) async throws -> ServerCommand.Result {
    try await run(words, passwords: passwords)
  }

  func run(_ words: [String], passwords: [String] = []) async throws -> ServerCommand.Result {
    try await process(words, passwords: passwords).finish()
  }

  /// Runs it with `--json`; it must succeed.
  func json(_ words: String..., passwords: [String] = []) async throws -> JSONObject {
    let result = try await run(words + ["--json"], passwords: passwords)
    try #require(result.status == 0, "signet \(words): status \(result.status), \(result.errorOutput)")
    return try JSONObject(parsing: Array(result.output.utf8))
  }

  /// The containers in the folder, which is there.
  func containers() async throws -> [ListedContainer] {
    try await json("list").array("containers").map { value in
      guard case .object(let object) = value else { throw JSONFailure.missingMember("id") }
      return ListedContainer(
        id: try object.string("id"), user: try object.string("user"),
        isConfirmed: try object.bool("confirmed"))
    }
  }

  /// What `signet list --json` says of a container.
  struct ListedContainer: Hashable, Sendable {
    let id: String
    let user: String
    let isConfirmed: Bool
  }
}

extension ServerCommand.Result {
  /// Whether it ended as a refusal should: this status, one message with this text, nothing on the output.
  func isRefusal(_ status: Int32, _ text: String) -> Bool {
    self.status == status && errorOutput.contains(text) && output.isEmpty
  }

  var summary: Comment { "status \(status), output \(output), messages \(errorOutput)" }
}
