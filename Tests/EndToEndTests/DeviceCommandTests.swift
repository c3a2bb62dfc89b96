import Foundation
import SignetJSON
import SignetTestKit
import Testing

@Suite("signet: first steps", .timeLimit(.minutes(10)))
struct DeviceCommandTests {
  /// Runs the built `signet`, which is next to `signet-server`.
  private func run(_ words: String..., environment: [String: String] = [:]) async throws
    -> ServerCommand.Result
  {
    try await run(words, environment)
  }

  private func run(_ words: [String], _ environment: [String: String] = [:]) async throws
    -> ServerCommand.Result
  {
    var process = try ServerCommand.process(words, environment)
    process.line[0] = try InstalledSignet.executable()
    return try await process.finish()
  }

  @Test("without a device, commands name the command that activates one")
  func nothingActivated() async throws {
    let folder = try TemporaryFolder()
    for (path, finding) in [
      ("\(folder.path)/none", "there is no folder \(folder.path)/none;"),
      (folder.path, "\(folder.path) contains no vault;"),
      // The message quotes the path for use in a command.
      ("\(folder.path)/my phone", "there is no folder '\(folder.path)/my phone';"),
    ] {
      let result = try await run("--data", path, "otp")
      #expect(result.status == 78)
      #expect(result.output.isEmpty)
      #expect(result.errorOutput.contains(finding), "\(result.errorOutput)")
      #expect(result.errorOutput.contains("signet activate --qr FILE"), "\(result.errorOutput)")
    }
  }

  #if os(Linux)
    @Test("without an agent, its commands say how to start one")
    func noAgent() async throws {
      let folder = try TemporaryFolder()
      for word in ["status", "lock"] {
        let none = try await run("--data", folder.path, word, "--socket", folder.file("agent.sock"))
        #expect(
          none.isRefusal(
            69, "; start one: systemctl --user start signet-agent.socket, or signet agent"),
          none.summary)
        let nowhere = try await run("--data", folder.path, word, environment: ["XDG_RUNTIME_DIR": ""])
        #expect(
          nowhere.isRefusal(
            64, "XDG_RUNTIME_DIR is not set: start the agent with signet agent --socket PATH"),
          nowhere.summary)
      }
    }
  #endif

  @Test("the data folder is below HOME")
  func home() async throws {
    let folder = try TemporaryFolder()
    let result = try await run("otp", environment: ["HOME": folder.path, "XDG_DATA_HOME": ""])
    #expect(
      result.errorOutput.contains("no folder \(folder.path)/.local/share/signet;"), "\(result.errorOutput)")
  }

  @Test(
    "both programs refuse an environment variable that is not UTF-8, and use no default folder or file",
    arguments: [
      ("signet", "list", "HOME"), ("signet", "list", "SIGNET_DATA"), ("signet", "list", "XDG_DATA_HOME"),
      ("signet", "list", "XDG_CONFIG_HOME"), ("signet-server", "user list", "SIGNET_CA_FILE"),
      ("signet-server", "user list", "SIGNET_API_KEY_FILE"),
    ])
  func variableIsNotText(_ program: String, _ words: String, _ variable: String) async throws {
    let folder = try TemporaryFolder()
    let script = #"export "$1=$2/b$(printf '\377')"; exec "$0" "# + words
    let result = try await ChildCommand(
      ["/bin/sh", "-c", script, try Programs.path(program), variable, folder.path],
      environment: ServerCommand.cleanEnvironment.merging(["HOME": folder.path, "XDG_DATA_HOME": ""]) { $1 }
    ).finish()
    #expect(
      result.isRefusal(64, "\(program): the variable \(variable) is not UTF-8 text; "), result.summary)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test("a closed descriptor is refused before a vault file gets its number")
  func closedDescriptor() async throws {
    let folder = try TemporaryFolder()
    let result = try await run("--data", folder.path, "otp", "--password-fd", "3")
    #expect(result.status == 64)
    #expect(result.errorOutput.contains("file descriptor 3 is not open"), "\(result.errorOutput)")
  }

  @Test("a policy review without a device reports contradictions, warnings and profiles")
  func policyLint() async throws {
    let folder = try TemporaryFolder()
    func lint(_ text: String, _ words: [String] = []) async throws -> ServerCommand.Result {
      let file = "\(folder.path)/policy"
      try Data(text.utf8).write(to: URL(filePath: file))
      return try await run(["policy", "lint", file] + words)
    }
    let clash = try await lint("MINLEN=6;MAXLEN=6;NUM=8\n")
    #expect(clash.status == 65)
    #expect(
      clash.output.contains(
        "error: no password satisfies minDigits (NUM) 8 and maxLength (MAXLEN) 6 together"))
    #expect(clash.output.hasSuffix("The policy cannot be used.\n"))

    let pin = "UP=0;LOW=0;NUM=6;ALPHA=0;NALPHA=0;MUP=0;MLOW=0;MNUM=8;MALPHA=0;MNALPHA=0;MINLEN=6;MAXLEN=8"
    let sound = try await lint(pin)
    #expect(sound.status == 0)
    #expect(sound.output.contains("legacy-compat, clause history: "))
    #expect(sound.output.hasSuffix("The policy can be used; it meets nist-aal2, psd2, pin-6.\n"))
    #expect(try await lint(pin, ["--profile", "pin-6"]).status == 0)
    let other = try await lint(pin, ["--profile", "legacy-compat"])
    #expect(other.status == 65)
    #expect(other.output.hasSuffix("The policy can be used; it does not meet legacy-compat.\n"))
    // The same profile names as for `init --policy`.
    let profile = try await run("policy", "lint", "psd2", "--profile", "psd2")
    #expect(profile.output == "The policy can be used; it meets psd2.\n", "\(profile.errorOutput)")
    #expect(try await run("policy", "lint", pin).output == sound.output)
    let nameless = try await run("policy", "lint", "psd3")
    #expect(nameless.status == 66)
    #expect(nameless.errorOutput.contains("a profile (legacy-compat, nist-aal2, psd2, pin-6)"))
    #expect(try await lint(pin, ["--profile", "other"]).status == 64)

    let json = try await lint(#"{"minLength":3,"maxLength":8}"#, ["--json"])
    #expect(json.status == 0)
    #expect(json.output.contains(#""valid":true"#))
    #expect(json.output.contains(#""severity":"warning""#))
    #expect(try await lint("\u{1B}[2J=1;MINLEN=x\u{1B}").output.contains("\u{1B}") == false)
    #expect(try await run("policy", "lint", "\(folder.path)/none").status == 66)
    #expect(try await lint("").status == 65)
  }

  @Test("a missing image file is named")
  func missingPicture() async throws {
    let folder = try TemporaryFolder()
    let result = try await run(
      "--data", "\(folder.path)/laptop", "activate", "--qr", "\(folder.path)/none.png")
    #expect(result.status == 66)
    #expect(result.errorOutput.contains("\(folder.path)/none.png cannot be read"), "\(result.errorOutput)")
  }

  @Test(
    "a container is selected by id, name, user, or user and server; its server id is shown"
  )
  func names() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    for user in ["alice", "bob"] {
      _ = try await device.json("activate", "--code-file", server.codeFile(user), "--name", "\(user)'s")
    }
    let bob = try #require(try await device.containers().first { $0.user == "bob" })
    let known = try #require(try await server.activeContainers("bob").first)
    for name in [bob.id, "bob's", "bob", "bob@\(server.url)"] {
      let explained = try await device.json("policy", "explain", "--container", name)
      #expect(try explained.string("container") == bob.id && explained.string("serverContainer") == known)
    }
    let none = try await device.run("otp", "--container", "bo")
    #expect(none.isRefusal(65, "no container is called that"), none.summary)
    let text = try await device.run("policy", "explain", "--container", "bob")
    #expect(text.output.contains("Its id at the server is \(known).\n"), text.summary)
    let listed = try await device.json("list").array("containers").compactMap { value -> String? in
      guard case .object(let object) = value else { return nil }
      return try object.string("serverContainer")
    }
    #expect(listed.count == 2 && listed.contains(known))
    let doctor = try await device.run("doctor")
    #expect(
      doctor.output.contains("ok      bob at \(server.url): its id at the server is \(known)\n"),
      doctor.summary)
    // A name of two containers selects neither.
    _ = try await device.json("activate", "--code-file", server.codeFile("carol"), "--name", "bob")
    let two = try await device.run("otp", "--container", "bob")
    #expect(two.isRefusal(65, "2 containers are called that"), two.summary)
    await server.stop()
  }
}
