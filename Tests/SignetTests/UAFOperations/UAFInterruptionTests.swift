import Signet
import SignetCrypto
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTestKit
import SignetTesting
import SignetTransport
import SignetVault
import Synchronization
import Testing

/// Every exchange of every UAF operation is interrupted; a check and a synchronization lead to two sides that agree.
///
/// The kill tests of the installed programs do the same at random moments (``EndToEndTests/UAFKillTests``).
@Suite("Interrupted UAF operations", .timeLimit(.minutes(5)))
struct UAFInterruptionTests {
  /// An operation, and what both sides have before it.
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
    "an interrupted operation leaves no more than a synchronization repairs",
    arguments: Operation.allCases, Interruption.Kind.allCases)
  func agrees(_ operation: Operation, _ kind: Interruption.Kind) async throws {
    let fixture = try await UAFOperationsFixture()
    var exchange = 0
    while true {
      exchange += 1
      try #require(exchange < 20, "the operation never ends")
      let comment: Comment = "exchange \(exchange)"
      try await prepare(operation, fixture)
      let interruption = Interruption(fixture.transport, at: exchange, kind)
      let interrupted = try fixture.sameDevice(over: interruption)
      let wasInterrupted = await interruption.happens { await Self.run(operation, fixture, interrupted) }
      try await expectAgreement(fixture, comment)
      // The name is free, and a registration is as good as any.
      #expect(try await fixture.register().targetFailure == nil, comment)
      try await expectSame(fixture, comment)
      interruption.end()
      try await deregister(fixture, comment)
      if !wasInterrupted { break }
    }
    #expect(exchange > 1, "nothing was interrupted")
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
      // A key that the server alone has, and one that this device alone has.
      try await fixture.client.delete(try #require(await fixture.client.keys().last))
      try await registerUnheard(fixture)
    case .synchronizationOfTarget:
      try await registerWithoutTarget(fixture)
      try await fixture.forgetAtServer("alice")
    }
    // The interrupted operation chooses by itself.
    fixture.person.use(operation == .secondRegistration ? .password : .pin)
  }

  /// The server has made the target, and this device has not heard of it.
  private func registerWithoutTarget(_ fixture: UAFOperationsFixture) async throws {
    fixture.transport.cut(.after, at: "/token/dispatch/targets/")
    #expect(try await fixture.register().targetFailure != nil)
    fixture.transport.cut(nil, at: "/token/dispatch/targets/")
  }

  /// The response to a registration has not reached the server, and this device cannot know that.
  private func registerUnheard(_ fixture: UAFOperationsFixture) async throws {
    let lost = Interruption(fixture.transport, at: 2, .unheard)
    let device = try fixture.sameDevice(over: lost)
    fixture.person.use(.password)
    #expect(
      await lost.happens {
        _ = await failure { try await fixture.register(.password, with: device) }
      })
  }

  private static func run(
    _ operation: Operation, _ fixture: UAFOperationsFixture, _ device: UAFOperations
  ) async {
    // What an interrupted operation throws is not looked at: the two sides are.
    _ = await failure {
      switch operation {
      case .firstRegistration: try await fixture.register(.pin, with: device)
      case .secondRegistration: try await fixture.register(.password, with: device)
      case .authentication, .authenticationWithoutTarget: try await device.authenticate("alice")
      case .deregistrationBySignature: try await device.deregister("alice", authorization: .jws)
      case .deregistrationByToken, .deregistrationByTokenWithoutTarget:
        try await device.deregister("alice", authorization: .jwt(fixture.apiKey))
      case .synchronizationOfKeys, .synchronizationOfTarget:
        do throws(UAFDeviceServiceFailure) {
          let check = try await device.checkDeviceInformation()
          _ = await device.synchronize(check.mismatches, authorization: .jwt(fixture.apiKey))
        } catch { Issue.record(error) }
      }
    }
  }

  private func expectAgreement(_ fixture: UAFOperationsFixture, _ comment: Comment) async throws {
    let operations = try fixture.operations
    // Keys can be compared once the server knows this device: the first may do no more than that.
    for _ in 0..<2 {
      let check = try await operations.checkDeviceInformation()
      #expect(check.errors.isEmpty, "\(comment): \(check.errors)")
      let left = await operations.synchronize(check.mismatches, authorization: .jwt(fixture.apiKey))
      #expect(left.isEmpty, "\(comment): \(check.mismatches), then \(left)")
    }
    try await expectSame(fixture, comment)
  }

  /// Both sides know the same keys and the same target, and neither anything else.
  private func expectSame(_ fixture: UAFOperationsFixture, _ comment: Comment) async throws {
    let check = try await fixture.operations.checkDeviceInformation()
    #expect(check.mismatches.isEmpty && check.errors.isEmpty, "\(comment): \(check)")
    let (own, there) = (try await fixture.ownKeys(), try await fixture.serverKeys())
    #expect(Set(own) == Set(there), "\(comment): here \(own), there \(there)")
    let targets = try await fixture.server.context.storage.uafTargets(user: "alice")
    let information = try await fixture.operations.localData.deviceInformation()
    #expect(targets.map(\.id) == information.map { Array($0.dispatchTargets.values) } ?? [], comment)
    #expect((information == nil) == own.isEmpty, "\(comment): \(String(describing: information))")
  }

  private func deregister(_ fixture: UAFOperationsFixture, _ comment: Comment) async throws {
    try await fixture.operations.deregister("alice", authorization: .jwt(fixture.apiKey))
    try await expectSame(fixture, comment)
    #expect(try await fixture.operations.localData.deviceInformation() == nil, comment)
  }
}

/// Carries requests on up to one of them; what is asked from there on, nobody answers.
final class Interruption: HTTPTransport {
  enum Kind: String, CaseIterable, Sendable {
    /// The server is gone before the request.
    case unreachable
    /// The request is lost on its way, and the server is gone.
    case unheard
    /// The server has done what it was asked, and is gone before its answer.
    case unanswered
    /// The device is gone before the request.
    case deviceBefore
    /// The server has done what it was asked, and the device is gone.
    case deviceAfter
  }

  private let inner: any HTTPTransport
  private let (number, kind): (Int, Kind)
  private let count = Mutex(0)
  private let (moments, moment) = AsyncStream<Bool>.makeStream()
  private let (gate, opener) = AsyncStream<Void>.makeStream()

  init(_ inner: any HTTPTransport, at number: Int, _ kind: Kind) {
    (self.inner, self.number, self.kind) = (inner, number, kind)
  }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let number = count.withLock { count in
      count += 1
      return count
    }
    if number < self.number { return try await inner.send(request) }
    let failure: TransportFailure = number > self.number ? .unreachable(code: 7) : failure
    if number == self.number, kind == .unanswered || kind == .deviceAfter {
      _ = try await inner.send(request)
    }
    if kind == .deviceBefore || kind == .deviceAfter {
      // A device that is gone does nothing more; what it began ends after the test has looked.
      moment.yield(true)
      for await _ in gate {}
    }
    throw failure
  }

  private var failure: TransportFailure {
    switch kind {
    case .unreachable: .unreachable(code: 7)
    case .unanswered: .incompleteResponse(code: 18)
    default: .noResponse(code: 52)
    }
  }

  /// Runs an operation until it ends, or until its device is gone; whether it was interrupted.
  func happens(_ operation: @escaping @Sendable () async -> Void) async -> Bool {
    Task { [self] in
      await operation()
      moment.yield(count.withLock { $0 } >= number)
    }
    return await moments.first { _ in true } ?? false
  }

  /// Lets what a device began before it was gone come to its end.
  func end() { opener.finish() }
}

extension UAFOperationsFixture {
  /// The operations of another process over the same folder.
  func sameDevice(over transport: any HTTPTransport) throws -> UAFOperations {
    let path = folder.path + "/device"
    let vault = try Vault(
      directory: path, keystore: SoftwareKeystore(directory: path), cost: .fixed(.minimum), clock: trusted)
    let device = Device(vault: vault, clock: clock, biometrics: biometrics, passcode: passcode) {
      _ throws(TransportFailure) in transport
    }
    return UAFOperations(
      client: UAFClient(device: device, facetID: Self.facet),
      configuration: try UAFConfiguration(baseURL: baseURL), interaction: person, clock: timer)
  }

  /// Registers with other operations of the same device.
  func register(_ kind: UAFAuthenticator.Kind, with operations: UAFOperations) async throws {
    person.use(kind)
    try await operations.register(
      "alice", device: UAFNewDevice(name: "laptop"), authorization: .jwt(apiKey))
  }
}
