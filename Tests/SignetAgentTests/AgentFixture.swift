#if os(Linux)
  import Foundation
  import Signet
  import SignetTestKit
  import protocol SignetVault.ScreenLockObserver
  import Testing

  import SignetAgent

  /// An agent in this process that accepts this process, over a vault without a container.
  final class AgentFixture: Sendable {
    static let office = AppGroup("office") ?? .standard

    /// The limits of an agent that waits long enough for apps on a busy machine.
    static var patient: Agent.Limits {
      var limits = Agent.Limits()
      limits.patience = .seconds(600)
      return limits
    }

    let folder: TemporaryFolder
    let path: String
    let agent: Agent
    private let task: Task<Void, any Error>

    init(
      executables: [String]? = nil, limits: Agent.Limits = patient, device: Device? = nil,
      screen: (any ScreenLockObserver)? = nil, container: Container? = nil
    ) throws {
      folder = try TemporaryFolder()
      path = folder.file("run/agent.sock")
      let own = try #require(PeerProcess(getpid())?.executable()?.path)
      let directory = folder.file("device")
      let device =
        try device
        ?? Device(vault: Vault(directory: directory, keystore: SoftwareKeystore(directory: directory)))
      let configuration = try AgentConfiguration(
        groups: [.init(Self.office, executables: executables ?? [own]), .init(.standard, executables: [])])
      let agent = Agent(device: device, configuration: configuration, limits: limits, screen: screen) {
        () throws(SignetError) in
        guard let container else { throw .noSuchContainer }
        return container
      }
      self.agent = agent
      let socket = try AgentSocket(at: path)
      task = Self.serve(agent, socket)
    }

    private static func serve(_ agent: Agent, _ socket: consuming AgentSocket) -> Task<Void, any Error> {
      var socket: AgentSocket? = consume socket
      let box = SocketBox(socket.take())
      return Task { if let socket = box.take() { try await agent.serve(socket) } }
    }

    deinit { task.cancel() }

    /// Stops the agent and waits until it has stopped.
    func stop() async throws {
      task.cancel()
      try await task.value
    }

    var session: AgentSession { AgentSession(path: path, group: Self.office) }

    /// Connects, reads the greeting and checks the repeated challenge.
    func connect(challenge: [UInt8] = Greeted.challenge) throws -> Greeted {
      try Greeted(path, challenge: challenge)
    }
  }

  /// Moves the socket into the task.
  final class SocketBox: @unchecked Sendable {
    private var socket: AgentSocket?
    init(_ socket: consuming AgentSocket?) { self.socket = socket }
    func take() -> AgentSocket? { socket.take() }
  }

  /// A connection with the agent's greeting and, for a complete challenge, its repetition.
  struct Greeted: ~Copyable {
    let stream: SocketStream
    let welcome: AgentProtocol.Welcome
    let nonce: [UInt8]
    static var soon: ContinuousClock.Instant { .now + .seconds(600) }

    static let challenge = [UInt8](1...16)

    init(_ path: String, challenge: [UInt8]) throws {
      let stream = try SocketStream.connecting(to: path)
      let greeting = try stream.receive(AgentProtocol.greetingByteCount, until: Self.soon)
      let said = try #require(AgentProtocol.parse(greeting: greeting))
      if said.welcome == .yes {
        try stream.send(challenge, until: Self.soon)
        if challenge.count == AgentProtocol.challengeByteCount {
          let echo = try stream.receive(challenge.count, until: Self.soon)
          try #require(echo == challenge)
        }
      }
      (welcome, nonce) = (said.welcome, said.nonce)
      self.stream = stream
    }

    /// Sends any bytes.
    func say(_ bytes: [UInt8]) throws { try stream.send(bytes, until: Self.soon) }

    /// Reads an answer.
    func answer() throws -> AgentAnswer {
      let lengths = try #require(
        AgentProtocol.Lengths(parsing: stream.receive(AgentProtocol.lengthsByteCount, until: Self.soon)))
      return try AgentAnswer(parsing: stream.receive(lengths.json, until: Self.soon))
    }

    /// Returns whether the agent closes the connection without an answer.
    func isHungUp() -> Bool {
      do {
        _ = try stream.receive(1, until: Self.soon)
        return false
      } catch { return error == .closed }
    }
  }

  /// A request in its form on the socket.
  func message(_ nonce: [UInt8], _ json: String, secret: Int = 0) -> [UInt8] {
    nonce + AgentProtocol.Lengths(json: json.utf8.count, secret: secret).bytes + Array(json.utf8)
  }
#endif
