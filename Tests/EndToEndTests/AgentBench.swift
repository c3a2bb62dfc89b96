#if os(Linux)
  import Foundation
  import Signet
  import SignetTestKit
  import Testing

  /// A container, copies of `signet` that act as apps, and an agent in a separate process.
  final class AgentBench: Sendable {
    static let password = "winter-garden-42"

    let folder: TemporaryFolder
    let device: InstalledSignet
    var socket: String { folder.file("run/agent.sock") }
    private let groups: String

    /// A folder with an activated device; each bench with the usual password gets a copy, and needs no server.
    private static let activated = Task {
      let folder = try TemporaryFolder()
      try await activate(folder.file("device"), AgentBench.password)
      return folder
    }

    private static func activate(_ data: String, _ password: String) async throws {
      let server = try await RunningServer.startWithShop([
        "--minimum-length", "8", "--attempts", "5", "--allow-sequences",
      ])
      let device = InstalledSignet(data: data, authority: server.authority)
      _ = try await device.json(
        "activate", "--code-file", server.codeFile("alice"), passwords: [password])
      await server.stop()
    }

    /// Prepares a container, with `apps/one` and `apps/two` in one group and `apps/three` in another.
    ///
    /// - Parameters:
    ///   - password: The container's.
    ///   - hasOwnPrograms: Whether no other bench shares the apps' files, for a test that changes their owner or mode.
    /// - Throws: The error that prevents the preparation.
    init(password: String = AgentBench.password, hasOwnPrograms: Bool = false) async throws {
      folder = try TemporaryFolder()
      device = InstalledSignet(data: folder.file("device"))
      if password == AgentBench.password {
        try FileManager.default.copyItem(
          atPath: await Self.activated.value.file("device"), toPath: device.data)
      } else {
        try await Self.activate(device.data, password)
      }
      for name in ["apps", "elsewhere"] {
        try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: false)
        #expect(chmod(folder.file(name), 0o755) == 0)
      }
      groups = folder.file("agent.json")
      // This test process is an app too.
      let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let text = """
        {"version":1,"groups":[{"name":"office","executables":["\(folder.file("apps/one"))","\(folder.file("apps/two"))","\(own)"]},
        {"name":"home","executables":["\(folder.file("apps/three"))"]}]}
        """
      try Data(text.utf8).write(to: URL(filePath: groups))
      for (number, app) in ["apps/one", "apps/two", "apps/three", "elsewhere/one"].enumerated() {
        let (program, path) = (try InstalledSignet.executable(), folder.file(app))
        if hasOwnPrograms {
          try Nobody.copy(program, to: path)
        } else {
          try Nobody.link(program, to: path, number: number)
        }
      }
      try Data("what the app keeps".utf8).write(to: URL(filePath: folder.file("text")))
    }

    /// Starts an agent and returns when it listens.
    func startAgent(launcher: [String] = []) async throws -> RunningAgent {
      var command = device
      command.launcher = launcher
      if !launcher.isEmpty { command.program = folder.file("apps/one") }
      return try await RunningAgent(command.process(["agent", "--socket", socket, "--groups", groups]))
    }

    /// Runs a command of an app, or of `signet` itself.
    func run(_ app: String?, _ words: String..., passwords: [String] = []) async throws
      -> ServerCommand.Result
    {
      var command = device
      command.program = app.map { folder.file($0) }
      return try await command.run(
        words + ["--socket", socket, "--agent", InstalledSignet.executable()], passwords: passwords)
    }

    func unlock(_ app: String? = nil, group: String = "office") async throws -> ServerCommand.Result {
      try await run(app, "unlock", "--group", group, passwords: [Self.password])
    }

    /// Encrypts or decrypts a file with an app over the shared session.
    func transform(_ app: String, _ verb: String, _ input: String, _ output: String, group: String = "office")
      async throws -> ServerCommand.Result
    {
      try await run(
        app, "data", verb, "--shared", "--group", group, "--label", "notes", folder.file(input),
        folder.file(output))
    }

    func content(_ name: String) -> String? {
      FileManager.default.contents(atPath: folder.file(name)).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// An agent that runs as a child process.
  final class RunningAgent: Sendable {
    private let process: ChildProcess
    var id: Int32 { process.id }
    var messages: String { get throws { process.errorOutputSoFar } }

    init(_ command: ChildCommand) async throws {
      var command = command
      command.output = .pipe
      process = try command.start()
      let line = await process.output.firstLine()
      try #require(line?.hasPrefix("listening at ") == true, "\(process.errorOutputSoFar)")
    }

    deinit { process.send(SIGTERM) }

    /// Waits for the agent to end and returns its exit status.
    func status() async -> Int32 { await process.status() }

    /// Sends a signal and waits until the process has ended.
    func kill(_ signal: Int32 = SIGKILL) async {
      #expect(process.send(signal))
      _ = await process.status()
    }
  }
#endif
