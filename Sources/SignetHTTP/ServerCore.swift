internal import Dispatch
internal import Glibc
internal import Synchronization

/// What the callbacks, the handlers' tasks and the server share; alive as long as any of them.
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
    case running(Machinery)
    case stopping(Task<Void, Never>)
    case stopped
  }

  /// What runs between start and stop.
  private struct Machinery: Sendable {
    let listener: ListeningSocket
    let acceptor: Acceptor
    let checks: RegularCheck
    /// Threads that get no more connections, and end with the last one that they have.
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

  /// Whether connections end after the response they are waiting for.
  var isDraining: Bool { draining.load(ordering: .sequentiallyConsistent) }
  /// Whether no handler may begin any more.
  var isRefusing: Bool { refusing.load(ordering: .sequentiallyConsistent) }

  var requestDeadline: Duration { time.now + limits.requestDeadline }
  var handlerDeadline: Duration { time.now + limits.handlerDeadline }
  var responseDeadline: Duration { time.now + limits.responseDeadline }

  /// The caller's response to a refusal, or a plain one where the caller's cannot be sent.
  func response(to refusal: RequestRefusal) -> ServerResponse {
    refusal.response(by: configuration.refusalResponder)
  }

  /// Tells the owner of the server of an answer to a request.
  func observe(_ request: AnsweredRequest) { configuration.observer?(request) }

  /// Tells the owner of the server of a request that no handler will see.
  func observe(_ request: RefusedRequest) { configuration.refusalObserver?(request) }

  // MARK: - Start

  func start() throws(ServerFailure) -> UInt16 {
    let address = try BindAddress(configuration.address, port: configuration.port)
    let result = stage.withLock { stage -> Result<UInt16, ServerFailure> in
      guard case .fresh = stage else { return .failure(.alreadyStarted) }
      do throws(ServerFailure) {
        let machinery = try assemble(address)
        stage = .running(machinery)
        return .success(machinery.listener.port)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private func assemble(_ address: BindAddress) throws(ServerFailure) -> Machinery {
    let threads = try startThreads(configuration.security)
    do throws(ServerFailure) {
      let acceptor = Acceptor(core: self, threads: threads)
      let listener = try ListeningSocket(address) { acceptor.admit($0, $1) }
      // The check, like the threads, keeps the core alive until the server stops.
      let checks = RegularCheck(every: .milliseconds(200)) { self.check() }
      return Machinery(listener: listener, acceptor: acceptor, checks: checks)
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

  /// Has other threads take the connections that come from now on, with another identity; nothing happens unless the server runs.
  func replaceSecurity(_ security: HTTPServerConfiguration.Security) throws(ServerFailure) {
    let result = stage.withLock { stage -> Result<Void, ServerFailure> in
      guard case .running(var machinery) = stage else { return .success(()) }
      do throws(ServerFailure) {
        machinery.retired += machinery.acceptor.replaceThreads(try startThreads(security))
        stage = .running(machinery)
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }

  /// Ends the retired threads that have no connection any more.
  private func endRetiredThreads() {
    let idle = stage.withLock { stage -> [PollingThread] in
      guard case .running(var machinery) = stage, !machinery.retired.isEmpty else { return [] }
      let used = Set(registry.all.map { ObjectIdentifier($0.wakeUps) })
      let idle = machinery.retired.filter { !used.contains(ObjectIdentifier($0.wakeUps)) }
      machinery.retired.removeAll { !used.contains(ObjectIdentifier($0.wakeUps)) }
      stage = .running(machinery)
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

  /// Looks at every connection; see ``Connection/check(now:)``.
  private func check() {
    endRetiredThreads()
    let now = time.now
    for connection in registry.all {
      switch connection.check(now: now) {
      case .nothing: continue
      case .overdue(let handler):
        // The answer first: a handler that returns as soon as it is cancelled comes too late.
        let cancel = connection.handlerToCancel()
        connection.answer(handler, response(to: .handlerTimedOut))
        cancel?()
      case .deserted(let cancel): cancel?()
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
      case .running(let machinery):
        let task = Task { await self.shutDown(machinery) }
        stage = .stopping(task)
        return task
      }
    }
    guard let task else { return }
    // Each call brings its own grace: a second, shorter one hastens the first.
    let impatience = Task { [registry, time] in
      do { try await time.sleep(for: grace) } catch { return }
      registry.stopWaiting()
    }
    await task.value
    impatience.cancel()
  }

  private func shutDown(_ machinery: Machinery) async {
    await machinery.listener.stop()
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
    let impatience = Task { [registry, time] in
      do { try await time.sleep(for: Self.farewellTime) } catch { return }
      registry.stopWaiting()
    }
    await registry.waitUntilEmpty()
    impatience.cancel()

    machinery.checks.stop()
    let threads = machinery.acceptor.threads + machinery.retired
    for thread in threads { thread.wakeUps.resumeAll() }
    await withCheckedContinuation { continuation in
      // Joining threads blocks, which no thread of the shared pool may do.
      DispatchQueue(label: "signet.http.stop").async {
        for thread in threads { thread.stop() }
        continuation.resume()
      }
    }
    stage.withLock { $0 = .stopped }
  }

  /// How long clients have to read that the server is stopping, after the grace.
  private static let farewellTime: Duration = .milliseconds(500)
}

/// Distributes accepted connections over the polling threads.
private final class Acceptor: Sendable {
  private struct State {
    var threads: [PollingThread]
    var turn = 0
  }

  private let core: ServerCore
  private let state: Mutex<State>

  init(core: ServerCore, threads: [PollingThread]) {
    self.core = core
    state = Mutex(State(threads: threads))
  }

  var threads: [PollingThread] { state.withLock { $0.threads } }

  /// Puts other threads in place; when it returns, those of before have all the connections that they will ever have.
  func replaceThreads(_ threads: [PollingThread]) -> [PollingThread] {
    state.withLock { state in
      defer { state = State(threads: threads) }
      return state.threads
    }
  }

  func admit(_ descriptor: Int32, _ peer: PeerAddress) {
    let isAdmitted = state.withLock { state -> Bool in
      state.turn = (state.turn + 1) % state.threads.count
      let thread = state.threads[state.turn]
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

/// A timer.
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
