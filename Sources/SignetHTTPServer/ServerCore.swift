internal import Dispatch
internal import Glibc
internal import Synchronization

/// The state shared by the callbacks, the handlers' tasks and the server; each of them keeps it alive.
final class ServerCore: Sendable {
  let limits: ServerLimits
  let handler: DirectHandler
  let registry: ConnectionRegistry
  private let configuration: HTTPServerConfiguration
  private let time: ServerTime
  private let draining = Atomic(false)
  private let refusing = Atomic(false)
  private let stage = Mutex(Stage.fresh)

  private enum Stage {
    case fresh
    case running(Components)
    case stopping(Task<Void, Never>)
    case stopped
  }

  private struct Components: Sendable {
    let listener: ListeningSocket
    let acceptor: Acceptor
    let checks: RegularCheck
    /// Threads that get no new connections, and end after their last one.
    var retired: [PollingThread] = []
  }

  init(
    _ configuration: HTTPServerConfiguration, clock: any Clock<Duration>, handler: @escaping DirectHandler
  ) {
    self.configuration = configuration
    time = ServerTime(clock)
    self.handler = handler
    limits = configuration.limits
    registry = ConnectionRegistry(limits, time)
  }

  /// True if each connection closes after its present response.
  var isDraining: Bool { draining.load(ordering: .sequentiallyConsistent) }
  /// True if no further handler may start.
  var isRefusing: Bool { refusing.load(ordering: .sequentiallyConsistent) }

  var requestDeadline: Duration { time.now + limits.requestDeadline }
  var handlerDeadline: Duration { time.now + limits.handlerDeadline }
  var responseDeadline: Duration { time.now + limits.responseDeadline }

  /// Returns the owner's response to a refusal, or a plain one if the owner's cannot be sent.
  func response(to refusal: RequestRefusal) -> ServerResponse {
    refusal.response(by: configuration.refusalResponder)
  }

  /// Reports an answered request to the owner of the server.
  func observe(_ request: AnsweredRequest) { configuration.observer?(request) }

  /// Reports a request to the owner of the server that no handler sees.
  func observe(_ request: RefusedRequest) { configuration.refusalObserver?(request) }

  // MARK: - Start

  func start() throws(ServerFailure) -> UInt16 {
    let address = try BindAddress(configuration.address, port: configuration.port)
    let result = stage.withLock { stage -> Result<UInt16, ServerFailure> in
      guard case .fresh = stage else { return .failure(.alreadyStarted) }
      do throws(ServerFailure) {
        let components = try assemble(address)
        stage = .running(components)
        return .success(components.listener.port)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private func assemble(_ address: BindAddress) throws(ServerFailure) -> Components {
    let threads = try startThreads(configuration.security)
    do throws(ServerFailure) {
      let acceptor = Acceptor(core: self, threads: threads)
      let listener = try ListeningSocket(address) { acceptor.admit($0, $1) }
      // The check, like the threads, keeps the core alive until the server stops.
      let checks = RegularCheck(every: .milliseconds(200)) { self.check() }
      return Components(listener: listener, acceptor: acceptor, checks: checks)
    } catch {
      for thread in threads { thread.stop() }
      throw error
    }
  }

  private func startThreads(_ security: HTTPServerConfiguration.Security) throws(ServerFailure)
    -> [PollingThread]
  {
    var threads: [PollingThread] = []
    do throws(ServerFailure) {
      for _ in 0..<configuration.threadCount {
        threads.append(try PollingThread(core: self, security: security))
      }
      return threads
    } catch {
      for thread in threads { thread.stop() }
      throw error
    }
  }

  /// Starts threads with another identity for new connections; does nothing unless the server runs.
  func replaceSecurity(_ security: HTTPServerConfiguration.Security) throws(ServerFailure) {
    let result = stage.withLock { stage -> Result<Void, ServerFailure> in
      guard case .running(var components) = stage else { return .success(()) }
      do throws(ServerFailure) {
        components.retired += components.acceptor.replaceThreads(try startThreads(security))
        stage = .running(components)
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }

  /// Ends the retired threads that have no connection left.
  private func endRetiredThreads() {
    let idle = stage.withLock { stage -> [PollingThread] in
      guard case .running(var components) = stage, !components.retired.isEmpty else { return [] }
      let used = Set(registry.all.map { ObjectIdentifier($0.wakeUps) })
      let idle = components.retired.filter { !used.contains(ObjectIdentifier($0.wakeUps)) }
      components.retired.removeAll { !used.contains(ObjectIdentifier($0.wakeUps)) }
      stage = .running(components)
      return idle
    }
    guard !idle.isEmpty else { return }
    DispatchQueue(label: "signet.http.retire").async {
      for thread in idle {
        thread.wakeUps.resumeAll()
        thread.stop()
      }
    }
  }

  /// Checks every connection; see ``Connection/check(now:)``.
  private func check() {
    endRetiredThreads()
    let now = time.now
    for connection in registry.all {
      switch connection.check(now: now) {
      case .nothing: continue
      case .overdue(let handler):
        // Answer first: a handler that returns as soon as it is cancelled must not replace this answer.
        let cancel = connection.handlerToCancel()
        connection.answer(handler, response(to: .handlerTimedOut))
        cancel?()
      case .clientDisconnected(let cancel): cancel?()
      }
    }
  }

  // MARK: - Stop

  func stop(grace: Duration) async {
    let task = stage.withLock { stage -> Task<Void, Never>? in
      switch stage {
      case .fresh, .stopped:
        stage = .stopped
        return nil
      case .stopping(let task): return task
      case .running(let components):
        let task = Task { await self.shutDown(components) }
        stage = .stopping(task)
        return task
      }
    }
    guard let task else { return }
    // Each call has its own grace: a second call with a shorter one ends the wait of the first.
    let timeout = Task { [registry, time] in
      do { try await time.sleep(for: grace) } catch { return }
      registry.stopWaiting()
    }
    await task.value
    timeout.cancel()
  }

  private func shutDown(_ components: Components) async {
    await components.listener.stop()
    draining.store(true, ordering: .sequentiallyConsistent)
    for connection in registry.all { connection.drain() }
    await registry.waitUntilEmpty()

    refusing.store(true, ordering: .sequentiallyConsistent)
    let farewell = response(to: .stopping)
    for connection in registry.all {
      guard let handler = connection.abandon() else { continue }
      let cancel = connection.handlerToCancel()
      connection.answer(handler, farewell)
      cancel?()
    }
    registry.allowWaiting()
    let timeout = Task { [registry, time] in
      do { try await time.sleep(for: Self.closingTimeout) } catch { return }
      registry.stopWaiting()
    }
    await registry.waitUntilEmpty()
    timeout.cancel()

    components.checks.stop()
    let threads = components.acceptor.threads + components.retired
    for thread in threads { thread.wakeUps.resumeAll() }
    await withCheckedContinuation { continuation in
      // Joining threads blocks, which is not allowed on the shared pool.
      DispatchQueue(label: "signet.http.stop").async {
        for thread in threads { thread.stop() }
        continuation.resume()
      }
    }
    stage.withLock { $0 = .stopped }
  }

  /// The time after the grace in which clients can read that the server is stopping.
  private static let closingTimeout: Duration = .milliseconds(500)
}

/// Distributes accepted connections over the polling threads.
private final class Acceptor: Sendable {
  private struct State {
    var threads: [PollingThread]
    var threadIndex = 0
  }

  private let core: ServerCore
  private let state: Mutex<State>

  init(core: ServerCore, threads: [PollingThread]) {
    self.core = core
    state = Mutex(State(threads: threads))
  }

  var threads: [PollingThread] { state.withLock { $0.threads } }

  /// Replaces the threads; when it returns, the old ones get no further connections.
  func replaceThreads(_ threads: [PollingThread]) -> [PollingThread] {
    state.withLock { state in
      defer { state = State(threads: threads) }
      return state.threads
    }
  }

  func admit(_ descriptor: Int32, _ peer: PeerAddress) {
    let isAdmitted = state.withLock { state -> Bool in
      state.threadIndex = (state.threadIndex + 1) % state.threads.count
      let thread = state.threads[state.threadIndex]
      guard
        let connection = core.registry.admit(descriptor, peer, wakeUps: thread.wakeUps, heads: thread.heads)
      else {
        return false
      }
      if !thread.adopt(descriptor, peer) { core.registry.remove(connection) }
      return true
    }
    guard !isAdmitted else { return }
    close(descriptor)
    core.observe(
      RefusedRequest(
        remoteAddress: peer.text, status: nil, reason: RequestRefusal.tooManyConnections.description))
  }
}

@safe private final class RegularCheck: Sendable {
  nonisolated(unsafe) private let source: any DispatchSourceTimer

  init(every interval: DispatchTimeInterval, _ check: @escaping @Sendable () -> Void) {
    unsafe source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "signet.http.check"))
    unsafe source.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(50))
    unsafe source.setEventHandler(handler: check)
    unsafe source.resume()
  }

  func stop() { unsafe source.cancel() }
}
