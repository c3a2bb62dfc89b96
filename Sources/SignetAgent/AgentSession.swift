#if os(Linux)
  import Glibc
  public import Signet
  import SignetConcurrency
  import SignetCrypto
  import SignetFiles
  import SignetVault
  import Synchronization

  /// A session that the agent holds for this app and the others of its group.
  ///
  /// Keys of texts are wiped when the agent tells that the session was locked, or is not there any more.
  public final class AgentSession: SharedSession {
    /// The apps that share the session and its data.
    public let group: AppGroup
    private let path: String
    private let server: ServerRule
    private let executor = BlockingExecutor(label: "signet.agent-session")
    private let issued = IssuedKeys()
    private let watched = Mutex<Int32?>(nil)

    /// A session that is looked for at a path when it is first used.
    ///
    /// - Parameters:
    ///   - path: The agent's socket: ``AgentSocket/standardPath(_:)``.
    ///   - group: One of the groups that this program is in.
    ///   - programs: Where the agent's program may lie; absolute paths without links. Another program that serves the socket is
    ///     not talked to, as far as it can be looked at.
    public init(
      path: String, group: AppGroup = .standard, servedBy programs: [String] = AgentSession.standardPrograms
    ) {
      (self.path, self.group, server) = (path, group, ServerRule(programs: programs))
    }

    /// Where the agent's program lies unless told otherwise: `/usr/bin/signet`, `/usr/local/bin/signet`, and this very program.
    public static let standardPrograms: [String] =
      ["/usr/bin/signet", "/usr/local/bin/signet"]
      + (PeerProcess(getpid())?.executable().map { [$0.path] } ?? [])

    deinit {
      // Wakes the thread that waits, which closes it.
      watched.withLock { descriptor in
        if let descriptor { shutdown(descriptor, Int32(SHUT_RDWR)) }
      }
      issued.revoke(because: .ending)
    }

    /// Whether it is unlocked.
    ///
    /// - Throws: ``SignetFailure/sharedSession(_:)``.
    public func state() async throws(SignetFailure) -> SessionState {
      guard case .state(let state) = try await ask(.state(group)).answer else {
        throw .sharedSession(.protocolBroken)
      }
      return state
    }

    /// Unlocks for all apps of the group.
    ///
    /// The agent has the finger matched or the passcode checked. It tells no hints meanwhile, but for the one that the sensor is
    /// on; and a system that asks more than one question for the passcode cannot be answered. Cancelling the task calls it off.
    ///
    /// - Parameter authentication: How the user shows who they are; `nil` where the device alone protects.
    /// - Throws: ``SignetFailure``: above all `wrongPassword`, `passwordRequired`, `lockedOut`, `sharedSession`.
    public func unlock(by authentication: Authentication? = nil) async throws(SignetFailure) {
      let answer: AgentAnswer
      switch authentication {
      case nil: answer = try await ask(.unlock(group, by: .password)).answer
      case .password(let password): answer = try await ask(.unlock(group, by: .password), password).answer
      case .biometrics(let reason, let hints):
        hints(.touchSensor(reason: reason))
        answer = try await callable(off: .biometrics(.cancelled), .unlock(group, by: .biometrics), nil)
      case .passcode(let reason, let conversation):
        let prompt = PasscodePrompt(reason: reason, text: "Passcode: ", echoes: false)
        guard let given = await conversation.answer(prompt) else { throw .passcode(.cancelled) }
        answer = try await callable(
          off: .passcode(.cancelled), .unlock(group, by: .passcode), SharedSecretBox(given))
      }
      guard case .done = answer else { throw .sharedSession(.protocolBroken) }
    }

    /// Asks; where the task is cancelled meanwhile, hangs up, which calls it off at the agent.
    private func callable(
      off cancelled: SignetFailure, _ request: AgentRequest, _ secret: SharedSecretBox?
    ) async throws(SignetFailure) -> AgentAnswer {
      let line = Line()
      let reply = await withTaskCancellationHandler {
        await result(request, secret, over: line)
      } onCancel: {
        line.hangUp()
      }
      do throws(SignetFailure) { return try reply.get() } catch {
        throw Task.isCancelled ? cancelled : error
      }
    }

    private func result(
      _ request: AgentRequest, _ secret: SharedSecretBox?, over line: Line
    ) async -> Result<AgentAnswer, SignetFailure> {
      do throws(SignetFailure) { return .success(try await ask(request, secret, over: line).answer) } catch {
        return .failure(error)
      }
    }

    /// The socket of an exchange while it waits for an answer.
    private final class Line: Sendable {
      private let state = Mutex<(descriptor: Int32?, isHungUp: Bool)>((nil, false))

      /// Lends the socket to who may hang up, as long as `body` runs.
      func hold<R: ~Copyable>(
        _ stream: borrowing SocketStream, _ body: (borrowing SocketStream) throws(SignetFailure) -> R
      ) throws(SignetFailure) -> R {
        let number = stream.number
        let isHungUp = state.withLock { state in
          state.descriptor = number
          return state.isHungUp
        }
        defer { state.withLock { $0.descriptor = nil } }
        if isHungUp { throw .sharedSession(.interrupted) }
        return try body(stream)
      }

      func hangUp() {
        state.withLock { state in
          state.isHungUp = true
          if let descriptor = state.descriptor { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
      }
    }

    /// Locks for all apps of the group.
    ///
    /// - Throws: ``SignetFailure/sharedSession(_:)``.
    public func lock() async throws(SignetFailure) {
      guard case .done = try await ask(.lock(group)).answer else { throw .sharedSession(.protocolBroken) }
      issued.revoke(because: .requested)
    }

    /// Locks all groups; for the agent's own command.
    ///
    /// - Throws: ``SignetFailure/sharedSession(_:)``.
    public func lockAllGroups() async throws(SignetFailure) {
      guard case .done = try await ask(.lockAll).answer else { throw .sharedSession(.protocolBroken) }
      issued.revoke(because: .requested)
    }

    /// The key of a new text.
    ///
    /// - Parameter label: What the text is, 1 to 256 bytes of UTF-8; the same bytes are needed to decrypt it.
    /// - Returns: A key of its own, good until the session is locked.
    /// - Throws: ``SignetFailure``: `appData`, `sharedSession`.
    public func newTextKey(label: String) async throws(SignetFailure) -> AppDataKey {
      try await key(.newTextKey(group, label: label), label)
    }

    /// The key of a text that was encrypted before.
    ///
    /// - Parameters:
    ///   - label: What it was encrypted with.
    ///   - header: Its first ``AppDataFormat/headerByteCount`` bytes, or more.
    /// - Returns: Its key, good until the session is locked.
    /// - Throws: ``SignetFailure``: `appData`, `sharedSession`.
    public func textKey(label: String, header: [UInt8]) async throws(SignetFailure) -> AppDataKey {
      let salt: [UInt8]
      do throws(AppDataFailure) { salt = try AppDataFormat.salt(inHeader: header) } catch {
        throw .appData(error)
      }
      return try await key(.textKey(group, label: label, salt: salt), label)
    }

    private func key(_ request: AgentRequest, _ label: String) async throws(SignetFailure) -> AppDataKey {
      guard (1...256).contains(label.utf8.count) else { throw .appData(.invalidLabel) }
      let reply = try await ask(request)
      guard case .key(let salt) = reply.answer, let secret = reply.secret else {
        throw .sharedSession(.protocolBroken)
      }
      let key = AppDataKey(secret.withSecret { $0.copy() }, salt: salt)
      issued.note(key)
      // Noted first: a lock that comes in between takes it back.
      try await watch()
      return key
    }

    // MARK: Exchanges

    private struct Reply: Sendable {
      let answer: AgentAnswer
      let secret: SharedSecretBox?
    }

    private func ask(
      _ request: AgentRequest, _ secret: SharedSecretBox? = nil, over line: Line = Line()
    ) async throws(SignetFailure) -> Reply {
      let (path, server) = (path, server)
      let result = await executor.run { () -> Result<Reply, SignetFailure> in
        do throws(SignetFailure) {
          let exchange = try Self.begin(request, secret, at: path, server)
          let reply = try line.hold(exchange.stream) { (stream) throws(SignetFailure) in
            try Self.reply(from: stream, exchange.agent)
          }
          return .success(reply)
        } catch { return .failure(error) }
      }
      let reply = try result.get()
      if case .failure(let failure) = reply.answer { throw failure }
      return reply
    }

    /// Has a thread wait for the lock, unless one does.
    private func watch() async throws(SignetFailure) {
      guard watched.withLock({ $0 == nil }) else { return }
      let (path, group, server) = (path, group, server)
      let result = await executor.run { () -> Result<(Int32, pid_t), SignetFailure> in
        do throws(SignetFailure) {
          let exchange = try Self.begin(.watch(group), nil, at: path, server)
          switch try Self.reply(from: exchange.stream, exchange.agent).answer {
          case .state(.unlocked):
            let agent = exchange.agent
            return .success((exchange.release(), agent))
          case .state(.locked(let reason)): throw .appData(.locked(reason))
          case .failure(let failure): throw failure
          default: throw .sharedSession(.protocolBroken)
          }
        } catch { return .failure(error) }
      }
      let (descriptor, agent): (Int32, pid_t)
      do throws(SignetFailure) { (descriptor, agent) = try result.get() } catch {
        if case .appData(.locked(let reason)) = error { issued.revoke(because: reason) }
        throw error
      }
      let isFirst = watched.withLock { watched in
        guard watched == nil else { return false }
        watched = descriptor
        return true
      }
      guard isFirst else {
        close(descriptor)
        return
      }
      let isRun = DetachedThread.start { [weak self, issued] in
        let stream = SocketStream(adopting: descriptor)
        var reason = LockReason.ending
        do throws(SignetFailure) {
          let answer = try Self.reply(from: stream, agent, within: .seconds(365 * 86_400)).answer
          if case .state(.locked(let said)) = answer { reason = said }
        } catch {}  // the agent has gone, and the session with it
        // In this order: a key that comes in between finds nobody waiting and has a thread wait for itself.
        self?.watched.withLock { $0 = nil }
        issued.revoke(because: reason)
      }
      guard !isRun else { return }
      // Nobody would hear of the lock: the keys are not kept.
      watched.withLock { $0 = nil }
      close(descriptor)
      issued.revoke(because: .ending)
    }

    /// A conversation that was begun.
    private struct Exchange: ~Copyable {
      let stream: SocketStream
      /// The process that greeted and repeated the challenge; all else must come from it.
      let agent: pid_t

      consuming func release() -> Int32 { stream.release() }
    }

    private static func begin(
      _ request: AgentRequest, _ password: SharedSecretBox?, at path: String, _ server: ServerRule
    ) throws(SignetFailure) -> Exchange {
      let deadline = ContinuousClock.now + .seconds(10)
      do {
        try ServerRule.checkPlace(path)
        let stream = try SocketStream.connecting(to: path)
        guard try stream.peer().user == geteuid() else { throw SharedSessionFailure.notTrusted(path: path) }
        // Who listens may be systemd; who greets is the agent.
        var sender: pid_t?
        let greeting = AgentProtocol.parse(
          greeting: try stream.receive(AgentProtocol.greetingByteCount, noting: &sender, until: deadline))
        guard let agent = sender, let process = PeerProcess(agent), let ground = server.ground(for: process)
        else {
          throw SharedSessionFailure.notTrusted(path: path)
        }
        switch greeting?.welcome {
        case .yes: break
        case .refused: throw SharedSessionFailure.refused
        case .busy: throw SharedSessionFailure.busy
        case nil: throw SharedSessionFailure.protocolBroken
        }
        // The greeting may be another program's, before it became the one that was looked at. What is made up only now is not.
        let challenge = SystemRandomSource().bytes(AgentProtocol.challengeByteCount)
        try stream.send(challenge, until: deadline)
        guard
          try stream.receive(challenge.count, from: agent, as: ground.group, until: deadline) == challenge,
          server.ground(for: process) == ground
        else { throw SharedSessionFailure.notTrusted(path: path) }
        try stream.send(request.bytes, password, after: greeting?.nonce ?? [], until: deadline)
        return Exchange(stream: stream, agent: agent)
      } catch { throw .sharedSession(failure(error, path)) }
    }

    private static func reply(
      from stream: borrowing SocketStream, _ agent: pid_t, within patience: Duration = .seconds(120)
    ) throws(SignetFailure) -> Reply {
      let deadline = ContinuousClock.now + patience
      do {
        guard
          let lengths = AgentProtocol.Lengths(
            parsing: try stream.receive(AgentProtocol.lengthsByteCount, from: agent, until: deadline))
        else { throw MalformedMessage() }
        let answer = try AgentAnswer(parsing: stream.receive(lengths.json, from: agent, until: deadline))
        guard lengths.secret > 0 else { return Reply(answer: answer, secret: nil) }
        guard case .key = answer, lengths.secret == 32 else { throw MalformedMessage() }
        return Reply(
          answer: answer,
          secret: SharedSecretBox(try stream.receiveSecret(lengths.secret, from: agent, until: deadline)))
      } catch {
        throw .sharedSession(error is MalformedMessage ? .protocolBroken : .interrupted)
      }
    }

    private static func failure(_ error: any Error, _ path: String) -> SharedSessionFailure {
      switch error {
      case let failure as SharedSessionFailure: failure
      case SocketStream.Failure.system(let code): .unreachable(path: path, code: code)
      case SocketStream.Failure.otherSender: .notTrusted(path: path)
      default: .interrupted
      }
    }
  }
#endif
