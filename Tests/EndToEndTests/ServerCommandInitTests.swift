import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// `signet-server init`, help, manual, schema of the settings and version.
@Suite(.timeLimit(.minutes(10))) struct ServerCommandInitTests {
  private let folder: TemporaryFolder
  private var data: String { "\(folder.path)/data" }

  init() throws { folder = try TemporaryFolder() }

  private func initialise(_ words: String...) async throws -> ServerCommand.Result {
    try await ServerCommand.run(["init", "--data", data, "--url", "localhost:8443/main"] + words)
  }

  private func profile() throws -> JSONObject {
    let bytes = Array(try Data(contentsOf: URL(filePath: "\(data)/server.json")))
    return try JSONObject(parsing: bytes).object("profile").object("protection")
  }

  @Test func makesAFolderAndSaysWhatIsInIt() async throws {
    let result = try await initialise("--json")
    #expect(result.status == 0)
    let object = try JSONObject(parsing: Array(result.output.utf8))
    #expect(try object.string("url") == "https://localhost:8443/main")
    #expect(try object.string("listen") == "127.0.0.1:8443")
    #expect(try object.string("pin").utf8.count == 43)
    #expect(FileManager.default.fileExists(atPath: try object.string("authority")))
  }

  @Test func refusesAFolderThatIsNotEmpty() async throws {
    #expect(try await initialise().status == 0)
    let again = try await initialise()
    #expect(again.status == 73)
    #expect(again.output.isEmpty)
    #expect(again.errorOutput.hasPrefix("signet-server init: "))
    #expect(again.errorOutput.contains("is not empty; name a folder that does not exist yet"))
  }

  @Test("a name that is not UTF-8, and an empty one, are refused before anything is made")
  func refusesNamesThatNameSomethingElse() async throws {
    let script = #"exec "$0" init --data "$1/bank$(printf '\377')" --url localhost:8443/main"#
    let bytes = try await ChildCommand(
      ["/bin/sh", "-c", script, try ServerCommand.executable(), folder.path],
      environment: ServerCommand.cleanEnvironment
    ).finish()
    #expect(bytes.isRefusal(64, "signet-server: argument 3 is not UTF-8 text; "), bytes.summary)
    var command = try ServerCommand.process(["init", "--data", "", "--url", "localhost:8443/main"])
    command.folder = folder.path
    let empty = try await command.finish()
    #expect(empty.isRefusal(64, "signet-server init: --data is empty; name a folder"), empty.summary)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func writesThePasswordPolicy() async throws {
    let result = try await initialise(
      "--minimum-length", "8", "--maximum-letters", "0", "--minimum-digits", "8", "--attempts", "3")
    #expect(result.status == 0, "\(result.errorOutput)")
    let protection = try profile()
    #expect(try protection.string("type") == "password")
    #expect(try protection.object("lock") == ["type": "lock", "limit": 3])
  }

  @Test func writesAProtectionByTheDeviceAlone() async throws {
    #expect(try await initialise("--protection", "device").status == 0)
    #expect(try profile() == ["type": "device"])
  }

  @Test("a policy string, a profile or a file sets the whole policy, with warnings")
  func takesAWholePolicy() async throws {
    let string =
      "NUM=6;MALPHA=0;MNALPHA=0;MUP=0;MLOW=0;MINLEN=6;MAXLEN=8;LOCKTYPE=lock;LOCKCOUNTER=3;HISTNUM=2;FOO=1"
    let result = try await initialise("--policy", string)
    #expect(result.status == 0, "\(result.errorOutput)")
    #expect(result.errorOutput.contains("warning: \"FOO\" is unknown here"))
    #expect(result.errorOutput.contains("warning: without a minimum age"))
    let password = try profile().object("password")
    #expect(try password.integer("minDigits") == 6)
    #expect(try password.integer("maxHistory") == 2)
    #expect(try profile().object("lock") == ["type": "lock", "limit": 3])
  }

  @Test(arguments: ["legacy-compat", "nist-aal2", "psd2", "pin-6"]) func takesAProfile(name: String)
    async throws
  {
    let result = try await initialise("--policy", name)
    #expect(result.status == 0, "\(result.errorOutput)")
    #expect(!result.errorOutput.contains("warning"))
    #expect(try profile().string("type") == "password")
    #expect(result.output.contains(";LOCKTYPE="))
    #expect(try await ServerCommand.run("completion", "bash").output.contains(name))
  }

  @Test("the lock policy is printed, also the default one")
  func printsTheWholePolicy() async throws {
    let result = try await initialise("--minimum-length", "8")
    #expect(
      result.output.contains(
        "Policy      UP=0;LOW=0;NUM=0;ALPHA=0;NALPHA=0;MINLEN=8;MAXLEN=64;LOCKTYPE=lock;LOCKCOUNTER=5\n"))
  }

  @Test func takesAPolicyFromAFile() async throws {
    let file = "\(folder.path)/policy.json"
    let text =
      #"{"type":"biometricOrPassword","password":{"minLength":6,"maxLength":8},"lock":{"type":"silent"}}"#
    try Data(text.utf8).write(to: URL(filePath: file))
    #expect(try await initialise("--policy-file", file).status == 0)
    #expect(try profile().string("type") == "biometricOrPassword")
    #expect(try profile().object("lock") == ["type": "silent"])
  }

  @Test("warnings are printed beside errors")
  func warnsBesideErrors() async throws {
    let result = try await initialise("--policy", "MINLEN=6;MAXLEN=5;LOCKTYPE=none")
    #expect(result.status == 64)
    #expect(result.errorOutput.contains("warning: the number of wrong passwords is not limited"))
    #expect(result.errorOutput.contains("no password satisfies"))
  }

  @Test func refusesAPolicyFileThatIsNotThere() async throws {
    let result = try await initialise("--policy-file", "\(folder.path)/none")
    #expect(result.status == 66)
    #expect(result.errorOutput.contains("none cannot be read"))
    #expect(!FileManager.default.fileExists(atPath: data))
  }

  @Test(arguments: [
    (["--url", "http://localhost/main"], "only https"),
    (["--url", "localhost"], "domain is missing"),
    (["--url", "localhost/main", "--listen", "localhost:8443"], "--listen must be a numeric address"),
    (["--url", "localhost/main", "--listen", "127.0.0.1:0"], "--listen must be a numeric address"),
    (["--url", "localhost/main", "--listen", "::1:8443"], "--listen must be a numeric address"),
    (["--url", "localhost/main", "--attempts", "0"], "--attempts must be"),
    (["--url", "localhost/main", "--attempts", "101"], "--attempts must be"),
    (["--url", "localhost/main", "--minimum-length", "70"], "no password satisfies"),
    (["--url", "localhost/main", "--protection", "device", "--attempts", "3"], "--protection password only"),
    (["--url", "localhost/main", "--protection", "none"], "must be one of"),
    (
      ["--url", "localhost/main", "--policy", "MINLEN=4;MAXLEN=6;NUM=8"],
      "minDigits (NUM) 8 and maxLength (MAXLEN) 6"
    ),
    (
      ["--url", "localhost/main", "--policy", "HISTMINAGE=9;HISTMAXAGE=9"], "minAge (HISTMINAGE) 9 and maxAge"
    ),
    (
      ["--url", "localhost/main", "--policy", "psd3"],
      "\"psd3\" is neither a policy string nor a profile; the profiles are legacy-compat, nist-aal2, psd2, pin-6"
    ),
    (["--url", "localhost/main", "--policy", "NUM=6;nothing"], "is not NAME=value"),
    (["--url", "localhost/main", "--policy", "{\"minLength\":6,\"maxLength\":8}"], "it lacks a type"),
    (["--url", "localhost/main", "--policy", "{"], "--policy: "),
    (["--url", "localhost/main", "--policy", "TYPE=biometric"], "use another type"),
    (
      ["--url", "localhost/main", "--policy", "pin-6", "--attempts", "3"], "--attempts goes without --policy"
    ),
    (["--url", "localhost/main", "--policy", "pin-6", "--minimum-length", "3"], "goes without --policy"),
    (["--url", "localhost/main", "--policy", "pin-6", "--policy-file", "x"], "goes without --policy-file"),
    ([], "--url is missing"),
  ]) func refusesWhatMakesNoServer(words: [String], message: String) async throws {
    let result = try await ServerCommand.run(["init", "--data", data] + words)
    #expect(result.status == 64)
    #expect(result.errorOutput.contains(message), "\(result.errorOutput)")
    #expect(!FileManager.default.fileExists(atPath: data))
  }

  /// A limit on the file size replaces a full disk: the first large write fails, or kills the process.
  @Test(arguments: [("--ignore-signal", 74 as Int32), ("--default-signal", -SIGXFSZ)])
  func leavesNothingAtThePathWhenWritingFails(disposition: String, status: Int32) async throws {
    let line = [
      "/bin/sh", "-c", "ulimit -f 16; ulimit -c 0; exec env \(disposition)=XFSZ \"$@\"", "sh",
      try ServerCommand.executable(), "init", "--data", data, "--url", "localhost:8443/main",
    ]
    let result = try await ChildCommand(line, environment: ServerCommand.cleanEnvironment).finish()
    #expect(result.status == status, "\(result.errorOutput)")
    #expect(!FileManager.default.fileExists(atPath: data))
    // A killed process cannot clean up; one that failed leaves nothing.
    let rest = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(rest.isEmpty == (status > 0))
    #expect(rest.allSatisfy { $0.hasPrefix("data.new-") })
    // The next attempt succeeds in either case.
    #expect(try await initialise().status == 0)
  }

  @Test func keepsTheMasterKeyOutOfTheFolder() async throws {
    let key = "\(folder.path)/master"
    #expect(FileManager.default.createFile(atPath: key, contents: Data(repeating: 1, count: 32)))
    #expect(chmod(key, 0o600) == 0)
    let variable = ["SIGNET_MASTER_KEY_FILE": key]
    let made = try await ServerCommand.run(
      ["init", "--data", data, "--url", "localhost:8443/main"], variable)
    #expect(made.status == 0)
    #expect(
      made.errorOutput.contains(
        "Start it: SIGNET_MASTER_KEY_FILE=\(key) signet-server serve --data \(data)\n"),
      made.summary)
    #expect(!FileManager.default.fileExists(atPath: "\(data)/master.key"))
    let served = try await ServerCommand.run("serve", "--data", data)
    #expect(
      served.isRefusal(
        66, "master.key is missing; name the file with the master key in SIGNET_MASTER_KEY_FILE"),
      served.summary)
    try Data(repeating: 2, count: 32).write(to: URL(filePath: key))
    let wrong = try await ServerCommand.run(["serve", "--data", data], variable)
    #expect(wrong.isRefusal(78, "is not the master key that this folder was created with"), wrong.summary)
    #expect(wrong.errorOutput.contains("If \"masterKeyCheck\" in server.json was changed"), wrong.summary)
  }

  // MARK: What describes the program

  @Test func hasAManualPage() async throws {
    let result = try await ServerCommand.run("help", "--man")
    #expect(result.status == 0)
    #expect(result.output.hasPrefix(".Dd "))
    for variable in ["SIGNET_SERVER", "SIGNET_CA_FILE", "SIGNET_API_KEY_FILE", "SIGNET_MASTER_KEY_FILE"] {
      #expect(result.output.contains(variable))
    }
  }

  @Test("the schema of the settings is the one in the documents")
  func settingsSchema() async throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let document = root.appending(path: "docs/server-settings.schema.json")
    let result = try await ServerCommand.run("settings")
    #expect(result.status == 0)
    #expect(
      try result.output == String(contentsOf: document, encoding: .utf8),
      "write it again: signet-server settings >docs/server-settings.schema.json")
  }

  @Test func tellsItsVersion() async throws {
    let result = try await ServerCommand.run("--version")
    #expect(result.status == 0)
    #expect(result.output.hasPrefix("signet-server 0."))
  }
}
