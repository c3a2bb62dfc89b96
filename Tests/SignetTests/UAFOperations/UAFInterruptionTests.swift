import Signet
import SignetCrypto
import SignetHTTPClient
import SignetServer
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetTesting
import SignetTestKit
import SignetUAFClient
import SignetVault
import Synchronization
import Testing

/// Every exchange of every UAF operation is interrupted; a check and a synchronization make both sides agree.
///
/// The kill tests of the installed programs do the same at random moments (``EndToEndTests/UAFKillTests``).
@Suite("Interrupted UAF operations", .timeLimit(.minutes(5)))
struct UAFInterruptionTests {
  /// An operation, with its initial state on both sides.
  enum Operation: String, CaseIterable, Sendable {
    case firstRegistration
    case secondRegistration
    case authentication
    case authenticationWithoutTarget
    case deregistrationBySignature
    case deregistrationByToken
    case deregistrationByTokenWithoutTarget
    case synchronizationOfKeys
    case synchronizationOfTarget
  }

  @Test(
    "a synchronization repairs what an interrupted operation leaves", arguments: Operation.allCases)
  func synchronized(_ operation: Operation) async throws {
    try await interrupt(operation, in: Self.kinds(2, "an interrupted \(operation)")) { fixture, comment in
      try await expectAgreement(fixture, comment)
    }
  }

  @Test(
    "after an interrupted operation the user can register under the same name", arguments: Operation.allCases)
  func registered(_ operation: Operation) async throws {
    try await interrupt(operation, in: Self.kinds(1, "register after an interrupted \(operation)")) {
      fixture, comment in
      if try await fixture.ownKeys().isEmpty {
        #expect(try await fixture.register().targetFailure == nil, comment)
      }
      try await expectAgreement(fixture, comment)
    }
  }

  /// A few random kinds of interruption for each operation, which a failure names; `make kill-test` tries all of them.
  private static func kinds(_ few: Int, _ test: String) -> [Interruption.Kind] {
    let kinds = Interruption.Kind.allCases
    var random = SeededRandom(test: test)
    return Array(kinds.shuffled(using: &random).prefix(KillCount.wanted == nil ? few : kinds.count))
  }

  /// Interrupts an operation at each of its exchanges in some ways, and checks both sides.
  private func interrupt(
    _ operation: Operation, in kinds: [Interruption.Kind],
    _ look: (UAFOperationsFixture, Comment) async throws -> Void
  ) async throws {
    let fixture = try await UAFOperationsFixture()
    for kind in kinds {
      var exchange = 0
      while true {
        exchange += 1
        try #require(exchange < 20, "the operation never ends")
        let comment: Comment = "exchange \(exchange), \(kind)"
        try await prepare(operation, fixture)
        let interruption = Interruption(fixture.transport, at: exchange, kind)
        await Self.run(operation, fixture, try fixture.sameDevice(over: interruption))
        try await look(fixture, comment)
        try await deregister(fixture, comment)
        if !interruption.hasHappened { break }
      }
      #expect(exchange > 1, "\(kind): nothing was interrupted")
    }
  }

  private func prepare(_ operation: Operation, _ fixture: UAFOperationsFixture) async throws {
    switch operation {
    case .firstRegistration: break
    case .secondRegistration, .authentication: try await fixture.register()
    case .deregistrationBySignature, .deregistrationByToken:
      try await fixture.register()
      try await fixture.register("alice", .password)
    case .authenticationWithoutTarget, .deregistrationByTokenWithoutTarget:
      try await registerWithoutTarget(fixture)
    case .synchronizationOfKeys:
      try await fixture.register()
      try await fixture.register("alice", .password)
      // A key that only the server has, and one that only this device has.
      try await fixture.client.delete(try #require(await fixture.client.keys().last))
      try await registerUnheard(fixture)
    case .synchronizationOfTarget:
      try await registerWithoutTarget(fixture)
      try await fixture.forgetAtServer("alice")
    }
    // The interrupted operation sets its own choice.
    fixture.person.use(operation == .secondRegistration ? .password : .pin)
  }

  /// Leaves a target at the server of which this device does not know.
  private func registerWithoutTarget(_ fixture: UAFOperationsFixture) async throws {
    fixture.transport.cut(.after, at: "/token/dispatch/targets/")
    #expect(try await fixture.register().targetFailure != nil)
    fixture.transport.cut(nil, at: "/token/dispatch/targets/")
  }

  /// Leaves a key whose registration response did not reach the server, which this device cannot know.
  private func registerUnheard(_ fixture: UAFOperationsFixture) async throws {
    let lost = Interruption(fixture.transport, at: 2, .unheard)
    let device = try fixture.sameDevice(over: lost)
    #expect(await failure { try await fixture.register(.password, with: device) } != nil)
    #expect(lost.hasHappened)
  }

  private static func run(
    _ operation: Operation, _ fixture: UAFOperationsFixture, _ device: UAFOperations
  ) async {
    // The error of an interrupted operation is ignored; the state of both sides is checked.
    _ = await failure {
      switch operation {
      case .firstRegistration: try await fixture.register(.pin, with: device)
      case .secondRegistration: try await fixture.register(.password, with: device)
      case .authentication, .authenticationWithoutTarget: try await device.authenticate("alice")
      case .deregistrationBySignature: try await device.deregister("alice", authorization: .jws)
      case .deregistrationByToken, .deregistrationByTokenWithoutTarget:
        try await device.deregister("alice", authorization: .jwt(fixture.apiKey))
      case .synchronizationOfKeys, .synchronizationOfTarget:
        do throws(SignetError) {
          let check = try await device.checkDeviceInformation()
          _ = await device.synchronize(check.mismatches, authorization: .jwt(fixture.apiKey))
        } catch { Issue.record(error) }
      }
    }
  }

  private func expectAgreement(_ fixture: UAFOperationsFixture, _ comment: Comment) async throws {
    let operations = try fixture.operations
    // Keys can be compared once the server knows this device, which the first run may establish.
    for _ in 0..<2 {
      let check = try await operations.checkDeviceInformation()
      #expect(check.errors.isEmpty, "\(comment): \(check.errors)")
      let left = await operations.synchronize(check.mismatches, authorization: .jwt(fixture.apiKey))
      #expect(left.isEmpty, "\(comment): \(check.mismatches), then \(left)")
    }
    try await expectSame(fixture, comment)
  }

  /// Expects that both sides have the same keys and the same target, and nothing else.
  private func expectSame(_ fixture: UAFOperationsFixture, _ comment: Comment) async throws {
    let check = try await fixture.operations.checkDeviceInformation()
    #expect(check.mismatches.isEmpty && check.errors.isEmpty, "\(comment): \(check)")
    let (own, there) = (try await fixture.ownKeys(), try await fixture.serverKeys())
    #expect(Set(own) == Set(there), "\(comment): here \(own), there \(there)")
    let targets = try await fixture.server.context.storage.uafTargets(user: "alice")
    let information = try await fixture.operations.localData.deviceInformation()
    #expect(targets.map(\.id.text) == information.map { Array($0.dispatchTargets.values) } ?? [], comment)
    #expect((information == nil) == own.isEmpty, "\(comment): \(String(describing: information))")
  }

  /// Deregisters everything for the next operation.
  private func deregister(_ fixture: UAFOperationsFixture, _ comment: Comment) async throws {
    if try await !fixture.ownKeys().isEmpty {
      try await fixture.operations.deregister("alice", authorization: .jwt(fixture.apiKey))
    }
    try await expectSame(fixture, comment)
    #expect(try await fixture.operations.localData.deviceInformation() == nil, comment)
  }
}

/// A transport that forwards requests up to one of them; later ones get no answer.
final class Interruption: HTTPTransport {
  enum Kind: String, CaseIterable, Sendable {
    /// The server is gone before the request.
    case unreachable
    /// The request is lost on its way, and the server is gone.
    case unheard
    /// The server has handled the request, and is gone before its answer.
    case unanswered
    /// The device is gone before the request.
    case deviceBefore
    /// The server has handled the request, and the device is gone.
    case deviceAfter
  }

  private let inner: any HTTPTransport
  private let (number, kind): (Int, Kind)
  private let state = Mutex((count: 0, isDeviceGone: false))

  init(_ inner: any HTTPTransport, at number: Int, _ kind: Kind) {
    (self.inner, self.number, self.kind) = (inner, number, kind)
  }

  /// Indicates whether the operation has reached this exchange.
  var hasHappened: Bool { state.withLock { $0.count >= number } }

  /// Fails the writes of a device that is gone, so that its disk stays unchanged.
  func look(at statement: String) throws(SQLiteFailure) {
    guard !["SELECT", "PRAGMA", "ROLLBACK"].contains(where: statement.hasPrefix),
      state.withLock({ $0.isDeviceGone })
    else { return }
    throw .inputOutput(extendedCode: 10, errno: 5)
  }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    if number < self.number { return try await inner.send(request) }
    if number > self.number { throw .unreachable(code: 7) }
    if kind == .unanswered || kind == .deviceAfter { _ = try await inner.send(request) }
    if kind == .deviceBefore || kind == .deviceAfter { state.withLock { $0.isDeviceGone = true } }
    switch kind {
    case .unreachable: throw .unreachable(code: 7)
    case .unanswered: throw .incompleteResponse(code: 18)
    default: throw .noResponse(code: 52)
    }
  }
}

extension UAFOperationsFixture {
  /// The operations of another process over the same folder.
  fileprivate func sameDevice(over transport: Interruption) throws -> UAFOperations {
    let path = folder.path + "/device"
    let vault = try Vault.forTests(path, clock: trusted) { settings in
      settings.willExecute = { (sql) throws(SQLiteFailure) in try transport.look(at: sql) }
    }
    let device = Device(vault: vault, clock: clock, biometrics: biometrics, passcode: passcode) {
      _ throws(TransportFailure) in transport
    }
    return UAFOperations(
      client: UAFClient(device: device, facetID: Self.facet),
      configuration: try UAFConfiguration(baseURL: baseURL), interaction: person, clock: timer)
  }

  /// Registers with other operations of the same device.
  fileprivate func register(_ kind: UAFAuthenticator.Kind, with operations: UAFOperations) async throws {
    person.use(kind)
    try await operations.register(
      "alice", device: UAFNewDevice(name: "laptop"), authorization: .jwt(apiKey))
  }
}
