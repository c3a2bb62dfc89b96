#if os(Linux)
  import Glibc
  public import Signet
  import SignetCrypto
  import SignetSystem
  import SignetVault
  import Synchronization

  /// A session that the agent holds for this app and the others of its group.
  ///
  /// Text keys are wiped when the agent reports a lock, or is no longer running.
  public final class AgentSession: SharedSession {
    /// The group of apps that share the session and its data.
    public let group: AppGroup
    private let path: String
    private let server: ServerRule
    private let executor = BlockingExecutor(label: "signet.agent-session")
    private let issued = IssuedKeys()
    private let watched = Mutex<Int32?>(nil)

    /// Creates a session; it connects to the agent on first use.
    ///
    /// - Parameters:
    ///   - path: The agent's socket: ``AgentSocket/standardPath(_:)``.
    ///   - group: A group that contains this program.
    ///   - programs: The allowed paths of the agent's program; absolute, without links. If another program serves the
    ///     socket, the session rejects it, provided that the program can be inspected.
    public init(
      path: String, group: AppGroup = .standard, servedBy programs: [String] = AgentSession.standardPrograms
    ) {
      self.path = path
      self.group = group
      server = ServerRule(programs: programs)
    }

    /// The default paths of the agent's program: `/usr/bin/signet`, `/usr/local/bin/signet`, and this program itself.
    public static let standardPrograms: [String] =
      ["/usr/bin/signet", "/usr/local/bin/signet"]
      + (PeerProcess(getpid())?.executable().map { [$0.path] } ?? [])

    deinit {
      // Wakes the waiting thread, which closes the descriptor.
      watched.withLock { descriptor in
        if let descriptor { shutdown(descriptor, Int32(SHUT_RDWR)) }
      }
      issued.revoke(because: .ending)
    }

    /// Reads the state of the session.
    ///
    /// - Throws: ``SignetError/sharedSession(_:)``.
    public func state() async throws(SignetError) -> SessionState {
      guard case .state(let state) = try await ask(.state(group)).answer else {
        throw .sharedSession(.protocolBroken)
      }
      return state
    }

    /// Unlocks for all apps of the group.
    ///
    /// The agent lets the sensor match the finger, or verifies the passcode. Meanwhile it sends no hints; only the hint that
    /// the sensor is active is given. A system that asks more than one passcode question is not supported. Cancelling the
    /// task cancels the unlock.
    ///
    /// - Parameter authentication: The user's authentication; `nil` if the device alone protects.
    /// - Throws: ``SignetError``, above all `wrongPassword`, `passwordRequired`, `lockedOut`, `sharedSession`.
    public func unlock(by authentication: Authentication? = nil) async throws(SignetError) {
      let answer: AgentAnswer
      switch authentication {
      case nil: answer = try await ask(.unlock(group, by: .password)).answer
      case .password(let password): answer = try await ask(.unlock(group, by: .password), password).answer
      case .biometrics(let reason, let hints):
        hints(.touchSensor(reason: reason))
        answer = try await callable(off: .biometrics(.cancelled), .unlock(group, by: .biometrics), nil)
      case .passcode(let reason, let conversation):
        let prompt = PasscodePrompt(reason: reason, text: "Passcode: ", echoes: false)
        guard let entered = await conversation.answer(prompt) else { throw .passcode(.cancelled) }
        answer = try await callable(
          off: .passcode(.cancelled), .unlock(group, by: .passcode), SharedSecretBox(entered))
      }
      guard case .done = answer else { throw .sharedSession(.protocolBroken) }
    }

    /// Sends a request; if the task is cancelled meanwhile, closes the connection, which cancels it at the agent.
    private func callable(
      off cancelled: SignetError, _ request: AgentRequest, _ secret: SharedSecretBox?
    ) async throws(SignetError) -> AgentAnswer {
      let line = Line()
      let reply = await withTaskCancellationHandler {
        await result(request, secret, over: line)
      } onCancel: {
        line.hangUp()
      }
      do throws(SignetError) { return try reply.get() } catch {
        throw Task.isCancelled ? cancelled : error
      }
    }

    private func result(
      _ request: AgentRequest, _ secret: SharedSecretBox?, over line: Line
    ) async -> Result<AgentAnswer, SignetError> {
      do throws(SignetError) { return .success(try await ask(request, secret, over: line).answer) } catch {
        return .failure(error)
      }
    }

    /// The socket of an exchange that waits for an answer.
    private final class Line: Sendable {
      private let state = Mutex<(descriptor: Int32?, isHungUp: Bool)>((nil, false))

      /// Lends the socket for hanging up, while `body` runs.
      func hold<R: ~Copyable>(
        _ stream: borrowing SocketStream, _ body: (borrowing SocketStream) throws(SignetError) -> R
      ) throws(SignetError) -> R {
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
    /// - Throws: ``SignetError/sharedSession(_:)``.
    public func lock() async throws(SignetError) {
      guard case .done = try await ask(.lock(group)).answer else { throw .sharedSession(.protocolBroken) }
      issued.revoke(because: .requested)
    }

    /// Locks all groups; for the agent's own command.
    ///
    /// - Throws: ``SignetError/sharedSession(_:)``.
    public func lockAllGroups() async throws(SignetError) {
      guard case .done = try await ask(.lockAll).answer else { throw .sharedSession(.protocolBroken) }
      issued.revoke(because: .requested)
    }

    /// Returns the key of a new text.
    ///
    /// - Parameter label: The purpose of the text, 1 to 256 bytes of UTF-8; decryption needs the same bytes.
    /// - Returns: A new key, usable until the session is locked.
    /// - Throws: ``SignetError``: `appData`, `sharedSession`.
    public func newTextKey(label: String) async throws(SignetError) -> AppDataKey {
      try await key(.newTextKey(group, label: label), label)
    }

    /// Returns the key of a text that was encrypted before.
    ///
    /// - Parameters:
    ///   - label: The label that it was encrypted with.
    ///   - header: Its first ``AppDataFormat/headerByteCount`` bytes, or more.
    /// - Returns: Its key, usable until the session is locked.
    /// - Throws: ``SignetError``: `appData`, `sharedSession`.
    public func textKey(label: String, header: [UInt8]) async throws(SignetError) -> AppDataKey {
      let salt: [UInt8]
      do throws(AppDataFailure) { salt = try AppDataFormat.salt(inHeader: header) } catch {
        throw .appData(error)
      }
      return try await key(.textKey(group, label: label, salt: salt), label)
    }

    private func key(_ request: AgentRequest, _ label: String) async throws(SignetError) -> AppDataKey {
      guard (1...256).contains(label.utf8.count) else { throw .appData(.invalidLabel) }
      let reply = try await ask(request)
      guard case .key(let salt) = reply.answer, let secret = reply.secret else {
        throw .sharedSession(.protocolBroken)
      }
      let key = AppDataKey(secret.withSecret { $0.copy() }, salt: salt)
      issued.record(key)
      // The key is recorded before the watch starts, so that a lock in between revokes it.
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
    ) async throws(SignetError) -> Reply {
      let (path, server) = (path, server)
      let result = await executor.run { () -> Result<Reply, SignetError> in
        do throws(SignetError) {
          let exchange = try Self.begin(request, secret, at: path, server)
          let reply = try line.hold(exchange.stream) { (stream) throws(SignetError) in
            try Self.reply(from: stream, exchange.agent)
          }
          return .success(reply)
        } catch { return .failure(error) }
      }
      let reply = try result.get()
      if case .failure(let failure) = reply.answer { throw failure }
      return reply
    }

    /// Starts a thread that waits for a lock, unless there is one.
    private func watch() async throws(SignetError) {
      guard watched.withLock({ $0 == nil }) else { return }
      let (path, group, server) = (path, group, server)
      let result = await executor.run { () -> Result<(Int32, pid_t), SignetError> in
        do throws(SignetError) {
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
      do throws(SignetError) { (descriptor, agent) = try result.get() } catch {
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
      let hasStarted = DetachedThread.start { [weak self, issued] in
        let stream = SocketStream(adopting: descriptor)
        var reason = LockReason.ending
        do throws(SignetError) {
          let answer = try Self.reply(from: stream, agent, within: .seconds(365 * 86_400)).answer
          if case .state(.locked(let lockReason)) = answer { reason = lockReason }
        } catch {}  // the agent has ended, and the session with it
        // The order matters: a key issued in between finds no waiting thread and starts one.
        self?.watched.withLock { $0 = nil }
        issued.revoke(because: reason)
      }
      guard !hasStarted else { return }
      // No thread would learn of a lock, so the keys are revoked.
      watched.withLock { $0 = nil }
      close(descriptor)
      issued.revoke(because: .ending)
    }

    private struct AuthenticatedStream: ~Copyable {
      let stream: SocketStream
      /// The process that greeted and repeated the challenge; all further bytes must come from it.
      let agent: pid_t

      consuming func release() -> Int32 { stream.release() }
    }

    private static func begin(
      _ request: AgentRequest, _ password: SharedSecretBox?, at path: String, _ server: ServerRule
    ) throws(SignetError) -> AuthenticatedStream {
      let deadline = ContinuousClock.now + .seconds(10)
      do {
        try ServerRule.checkPath(path)
        let stream = try SocketStream.connecting(to: path)
        guard try stream.peer().user == geteuid() else { throw SharedSessionFailure.notTrusted(path: path) }
        // systemd may own the listening socket; only the agent sends the greeting.
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
        // Another program may have sent the greeting before it executed the inspected one. It cannot have predicted this new
        // challenge.
        let challenge = SystemRandomSource().bytes(AgentProtocol.challengeByteCount)
        try stream.send(challenge, until: deadline)
        guard
          try stream.receive(challenge.count, from: agent, as: ground.group, until: deadline) == challenge,
          server.ground(for: process) == ground
        else { throw SharedSessionFailure.notTrusted(path: path) }
        try stream.send(request.bytes, password, after: greeting?.nonce ?? [], until: deadline)
        return AuthenticatedStream(stream: stream, agent: agent)
      } catch { throw .sharedSession(failure(error, path)) }
    }

    private static func reply(
      from stream: borrowing SocketStream, _ agent: pid_t, within patience: Duration = .seconds(120)
    ) throws(SignetError) -> Reply {
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
