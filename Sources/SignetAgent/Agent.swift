#if os(Linux)
  import Dispatch
  import Glibc
  public import Signet
  import SignetCrypto
  import SignetSystem
  public import enum SignetVault.ScreenLockFailure
  public import protocol SignetVault.ScreenLockObserver
  import Synchronization

  /// Holds the sessions of a user's apps in a separate process, so that one unlock serves all apps of a group.
  ///
  /// Apps connect to its socket with ``AgentSession``. Each exchange has its own connection: the agent identifies the
  /// process that has connected, greets it with a nonce, and repeats its challenge. It accepts one request sent by this same
  /// process, identifies the process again, and answers.
  public final class Agent: Sendable {
    /// The limits of the agent.
    public struct Limits: Sendable {
      /// The maximum number of concurrent exchanges.
      public var exchanges = 64
      /// The maximum number of apps that wait for a lock.
      public var watchers = 256
      /// The time limit for an app's part of an exchange.
      public var patience: Duration = .seconds(5)

      /// Creates the default limits: 64 exchanges, 256 watchers, 5 seconds.
      public init() {}
    }

    private let device: Device
    private let container: @Sendable () async throws(SignetError) -> Container
    private let groups: [AppGroup: AgentConfiguration.Group]
    private let limits: Limits
    private let screen: (any ScreenLockObserver)?
    private let ownProgram: (path: String, namespaces: PeerProcess.Namespaces, group: gid_t?)?
    private let state = Mutex(State())
    private let watchers: Watchers

    private struct State {
      var sessions: [AppGroup: Session] = [:]
      var exchanges = 0
    }

    /// Creates an agent without an unlocked session.
    ///
    /// - Parameters:
    ///   - device: The device with the container.
    ///   - configuration: The groups of programs.
    ///   - limits: The limits of the agent.
    ///   - screen: Reports that the user leaves the device; all groups are then locked. If it fails, all are locked once,
    ///     and later only their limits lock them.
    ///   - container: Returns the container; called at every unlock, because it may have been replaced.
    public init(
      device: Device, configuration: AgentConfiguration, limits: Limits = Limits(),
      screen: (any ScreenLockObserver)? = nil,
      container: @escaping @Sendable () async throws(SignetError) -> Container
    ) {
      self.device = device
      self.container = container
      self.limits = limits
      self.screen = screen
      groups = Dictionary(uniqueKeysWithValues: configuration.groups.map { ($0.group, $0) })
      if let process = PeerProcess(getpid()), let path = process.executable()?.path,
        let home = process.namespaces()
      {
        ownProgram = (path, home, ProgramGroup.own)
      } else {
        ownProgram = nil
      }
      watchers = Watchers(limit: limits.watchers)
    }

    /// Locks all groups.
    public func lockAll(because reason: LockReason) {
      for session in state.withLock({ Array($0.sessions.values) }) { session.lock(because: reason) }
    }

    /// Serves connections until the task is cancelled, then locks all groups.
    ///
    /// - Parameter socket: The listening socket.
    /// - Throws: ``AgentSocketFailure`` if the socket fails.
    public func serve(_ socket: consuming AgentSocket) async throws(AgentSocketFailure) {
      let listener = socket.descriptor
      let stop = StopPipe()
      let watching = screen.map { screen in
        Task { [self] in
          do throws(ScreenLockFailure) {
            try await screen.locking { reason in self.lockAll(because: reason) }
          } catch {
            // The observer has locked all groups; later sessions still have their limits.
          }
        }
      }
      defer { watching?.cancel() }
      let failure = await withTaskCancellationHandler {
        await withCheckedContinuation { (done: CheckedContinuation<AgentSocketFailure?, Never>) in
          let hasStarted = DetachedThread.start { done.resume(returning: self.accept(on: listener, stop)) }
          if !hasStarted { done.resume(returning: .system("a thread", errno: EAGAIN)) }
        }
      } onCancel: {
        stop.pull()
      }
      lockAll(because: .ending)
      if let failure { throw failure }
    }

    private func accept(on listener: Int32, _ stop: StopPipe) -> AgentSocketFailure? {
      while stop.waits(for: listener) {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else {
          switch errno {
          case EINTR, EAGAIN, ECONNABORTED: continue
          // Descriptors become free when exchanges end.
          case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            stop.waits(for: nil, milliseconds: 100)
            continue
          default: return .system("the socket", errno: errno)
          }
        }
        // This process starts no others, so the moment without the flag does no harm.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let isWelcome = state.withLock { state in
          guard state.exchanges < limits.exchanges else { return false }
          state.exchanges += 1
          return true
        }
        guard isWelcome else {
          Self.refuse(SocketStream(adopting: descriptor))
          continue
        }
        let hasStarted = DetachedThread.start { [self] in
          exchange(SocketStream(adopting: descriptor))
          state.withLock { $0.exchanges -= 1 }
        }
        if !hasStarted {
          state.withLock { $0.exchanges -= 1 }
          Self.refuse(SocketStream(adopting: descriptor))
        }
      }
      return nil
    }

    /// Answers that the agent is busy; a greeting always fits into the buffer of an unused socket.
    private static func refuse(_ stream: consuming SocketStream) {
      let nonce = [UInt8](repeating: 0, count: AgentProtocol.nonceByteCount)
      do throws(SocketStream.Failure) {
        try stream.send(AgentProtocol.greeting(.busy, nonce: nonce), until: .now + .milliseconds(100))
      } catch {}  // the app has closed the connection
    }

    // MARK: One exchange

    /// Runs one connection from beginning to end.
    ///
    /// An app that disconnects or exceeds the time limit gets no answer.
    private func exchange(_ stream: consuming SocketStream) {
      do throws(SocketStream.Failure) {
        let deadline = ContinuousClock.now + limits.patience
        let nonce = SystemRandomSource().bytes(AgentProtocol.nonceByteCount)
        let (id, user, group) = try stream.peer()
        let handle = try stream.peerHandle()
        defer { if let handle { close(handle) } }
        guard user == geteuid(), let peer = PeerProcess(id, handle: handle),
          let found = caller(peer, group), isKnown(found)
        else {
          return try stream.send(AgentProtocol.greeting(.refused, nonce: nonce), until: deadline)
        }
        try stream.demandSenders()
        try stream.send(AgentProtocol.greeting(.yes, nonce: nonce), until: deadline)
        // For an app that has identified this process, the repeated challenge proves that no other program sent the
        // greeting.
        let challenge = try stream.receive(AgentProtocol.challengeByteCount, from: id, until: deadline)
        try stream.send(challenge, as: ownProgram?.group, until: deadline)
        // The following bytes were sent after the nonce was made, by the process with this number. It is the identified one
        // if that process still exists afterwards and runs the same program.
        guard try stream.receive(nonce.count, from: id, until: deadline) == nonce,
          let lengths = AgentProtocol.Lengths(
            parsing: try stream.receive(AgentProtocol.lengthsByteCount, from: id, until: deadline))
        else { return try Self.send(.failure(.sharedSession(.protocolBroken)), nil, over: stream) }
        let json = try stream.receive(lengths.json, from: id, until: deadline)
        var secret: SharedSecretBox?
        if lengths.secret > 0 {
          secret = SharedSecretBox(try stream.receiveSecret(lengths.secret, from: id, until: deadline))
        }
        let request: AgentRequest
        do throws(MalformedMessage) { request = try AgentRequest(parsing: json) } catch {
          return try Self.send(.failure(.sharedSession(.protocolBroken)), nil, over: stream)
        }
        guard caller(peer, group) == found, isAllowed(found, request) else {
          return try Self.send(.failure(.sharedSession(.refused)), nil, over: stream)
        }
        if case .watch(let group) = request { return try watch(group, stream) }
        let password = secret
        let reply = Self.waiting(for: stream) { await self.reply(to: request, password) }
        try Self.send(reply.answer, reply.secret, over: stream)
      } catch {}
    }

    private struct Reply: Sendable {
      let answer: AgentAnswer
      var secret: SharedSecretBox?
    }

    private static func send(
      _ answer: AgentAnswer, _ secret: SharedSecretBox?, over stream: borrowing SocketStream
    ) throws(SocketStream.Failure) {
      try stream.send(answer, secret, until: .now + .seconds(5))
    }

    /// Runs an asynchronous operation and blocks this thread, which belongs to the exchange.
    ///
    /// If the app disconnects, the operation is cancelled.
    private static func waiting(
      for stream: borrowing SocketStream, _ body: @escaping @Sendable () async -> Reply
    ) -> Reply {
      let done = DispatchSemaphore(value: 0)
      let box = ReplyBox()
      let task = Task {
        box.set(await body())
        done.signal()
      }
      while done.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
        if stream.isHungUp { task.cancel() }
      }
      return box.reply
    }

    private final class ReplyBox: Sendable {
      private let value = Mutex(Reply(answer: .failure(.sharedSession(.interrupted))))
      var reply: Reply { value.withLock { $0 } }
      func set(_ reply: Reply) { value.withLock { $0 = reply } }
    }

    // MARK: Callers

    private enum Caller: Equatable {
      /// The process runs this program, in the agent's namespaces.
      case program(PeerProcess.Executable)
      /// The process has the agent's own group, so it is `signet`; other processes of its user cannot inspect it.
      case signet
      /// The process cannot be inspected, and no group identifies it.
      case closed
    }

    /// Identifies a process.
    ///
    /// - Parameters:
    ///   - peer: The process.
    ///   - group: Its effective group when it connected (`SO_PEERCRED`), in this process's user namespace.
    /// - Returns: `nil` if it has ended, runs in other namespaces, or is closed and lacks the agent's group.
    private func caller(_ peer: borrowing PeerProcess, _ group: gid_t) -> Caller? {
      guard let ownProgram else { return nil }
      if let program = ownProgram.group, program == group { return peer.isThere ? .signet : nil }
      if let found = peer.executable(in: ownProgram.namespaces) { return .program(found) }
      return ownProgram.group == nil && peer.isClosed ? .closed : nil
    }

    /// True if a program is in any group, or may be the agent's own.
    private func isKnown(_ caller: Caller) -> Bool {
      isOwn(caller) || groups.values.contains { isMember(caller, $0) }
    }

    private func isAllowed(_ caller: Caller, _ request: AgentRequest) -> Bool {
      if request.isControl, isOwn(caller) { return true }
      guard let name = request.group, let group = groups[name] else { return false }
      return isMember(caller, group)
    }

    /// True if the caller may lock, unlock and read the state, without getting a key.
    ///
    /// Without its own group the agent cannot tell `signet` from another closed program. Such a program gains nothing: it
    /// could start `signet` as well.
    private func isOwn(_ caller: Caller) -> Bool {
      switch caller {
      case .program(let executable):
        ownProgram.map { ExecutableRule.allows(executable, at: $0.path) } ?? false
      case .signet, .closed: true
      }
    }

    private func isMember(_ caller: Caller, _ group: AgentConfiguration.Group) -> Bool {
      switch caller {
      case .program(let executable): group.executables.contains { ExecutableRule.allows(executable, at: $0) }
      case .signet: ownProgram.map { group.executables.contains($0.path) } ?? false
      case .closed: false
      }
    }

    // MARK: Requests

    private func reply(to request: AgentRequest, _ password: SharedSecretBox?) async -> Reply {
      do throws(SignetError) {
        switch request {
        case .state(let group): return Reply(answer: .state(state(of: group)))
        case .unlock(let group, let method):
          try await unlock(group, Self.authentication(method, password))
          return Reply(answer: .done)
        case .lock(let group):
          session(of: group)?.lock()
          return Reply(answer: .done)
        case .lockAll:
          lockAll(because: .requested)
          return Reply(answer: .done)
        case .newTextKey(let group, let label):
          return try await Self.reply(unlocked(group).newTextKey(label: label))
        case .textKey(let group, let label, let salt):
          return try await Self.reply(
            unlocked(group).textKey(label: label, header: AppDataFormat.header(salt: salt)))
        case .watch: return Reply(answer: .failure(.sharedSession(.protocolBroken)))
        }
      } catch { return Reply(answer: .failure(error)) }
    }

    private static func reply(_ key: AppDataKey) throws(SignetError) -> Reply {
      do throws(AppDataFailure) {
        return Reply(
          answer: .key(salt: key.salt),
          secret: try key.withKey { (key) throws(AppDataFailure) in SharedSecretBox(key.copy()) })
      } catch { throw .appData(error) }
    }

    private func session(of group: AppGroup) -> Session? { state.withLock { $0.sessions[group] } }

    private func state(of group: AppGroup) -> SessionState {
      session(of: group)?.state() ?? .locked(.notUnlocked)
    }

    private func unlocked(_ group: AppGroup) throws(SignetError) -> Session {
      guard let session = session(of: group) else { throw .appData(.locked(.notUnlocked)) }
      return session
    }

    /// Converts an app's request: the secret is the password, or the answer to the single passcode question.
    private static func authentication(_ method: AgentRequest.Credential, _ secret: SharedSecretBox?)
      -> Authentication?
    {
      switch method {
      case .password: secret.map { .password($0) }
      case .biometrics: .biometrics(reason: "Unlock the data of apps")
      case .passcode:
        .passcode(reason: "Unlock the data of apps", conversation: FixedAnswer(secret))
      }
    }

    private func unlock(
      _ group: AppGroup, _ authentication: Authentication?
    ) async throws(SignetError) {
      // The agent's own command may name any configured group.
      guard let settings = groups[group] else { throw .sharedSession(.refused) }
      let container = try await container()
      let session = state.withLock { state -> Session in
        if let existing = state.sessions[group], existing.container.id == container.id { return existing }
        let newSession = Session(
          for: container, on: device, group: group, limits: settings.limits,
          onLock: { [watchers] reason in watchers.notify(group, reason) })
        state.sessions[group]?.lock()
        state.sessions[group] = newSession
        return newSession
      }
      try await session.unlock(by: authentication)
    }

    private func watch(_ group: AppGroup, _ stream: consuming SocketStream) throws(SocketStream.Failure) {
      try Self.send(.state(state(of: group)), nil, over: stream)
      watchers.add(group, stream)
      // A lock between the answer and the registration would have been missed.
      if case .locked(let reason) = state(of: group) { watchers.notify(group, reason) }
    }
  }

  /// Answers the first question with a hidden answer, and cancels a conversation with more questions.
  private final class FixedAnswer: PasscodeConversation {
    private let secret: Mutex<SharedSecretBox?>

    init(_ secret: SharedSecretBox?) { self.secret = Mutex(secret) }

    func answer(_ prompt: PasscodePrompt) async -> SecretBytes? {
      guard !prompt.echoes else { return nil }
      return secret.withLock { $0.take() }?.withSecret { $0.copy() }
    }

    func show(_ message: PasscodeMessage) async {}
  }

  extension SocketStream {
    /// Sends a message: its lengths, the JSON, and the secret.
    func send(
      _ json: [UInt8], _ secret: SharedSecretBox?, after prefix: [UInt8] = [],
      until deadline: ContinuousClock.Instant
    ) throws(Failure) {
      let lengths = AgentProtocol.Lengths(
        json: json.count, secret: secret?.withSecret { $0.byteCount } ?? 0)
      try send(prefix + lengths.bytes + json, until: deadline)
      try secret?.withSecret { (secret) throws(Failure) in
        try secret.withBytes { (bytes) throws(Failure) in try send(bytes, until: deadline) }
      }
    }

    func send(
      _ answer: AgentAnswer, _ secret: SharedSecretBox?, until deadline: ContinuousClock.Instant
    ) throws(Failure) { try send(answer.bytes, secret, until: deadline) }
  }
#endif
