import AccountModel
import SignetCrypto
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetStorage
import SignetUAF

/// The decisions of a server's services within steps of its storage.
struct Judges: Sendable {
  let codes: CodeService
  let transactions: TransactionService
  let uaf: UAFRequirementCheck
  let able: AbleAuthenticators

  fileprivate init(_ context: ServiceContext, _ setup: UAFSetup) {
    (codes, transactions) = (CodeService(context), TransactionService(context))
    (uaf, able) = (UAFRequirementCheck(context, setup), context.able)
  }
}

/// The services of a history's servers that make tokens and notify clients.
struct Desk: Sendable {
  let judges: Judges
  private let context: ServiceContext
  private let senders: [OutboxSender]
  private let outside: Outside

  /// Creates the services of the servers.
  ///
  /// - Parameters:
  ///   - servers: Their connections to the database.
  ///   - outside: Their clock and network.
  ///   - executor: The executor of their background tasks; `nil` for the shared pool.
  /// - Throws: Errors of the settings.
  init(of servers: [Storage], _ outside: Outside, on executor: (any TaskExecutor)?) throws {
    let setup = try Sample.uaf()
    func services(_ storage: Storage) throws -> ServiceContext {
      ServiceContext(
        settings: try Sample.settings(), storage: storage, masterKey: Sample.masterKey, clock: outside,
        log: EventLog { _ in }, notices: outside, uaf: setup)
    }
    context = try services(servers[0])
    judges = Judges(context, setup)
    senders = try servers.enumerated().compactMap { number, storage in
      let faults = StepFaults {
        try outside.beginStep(of: number)
      } didEnd: {
        try outside.endStep(of: number)
      }
      return OutboxSender(try services(storage.suffering(faults)), on: executor)
    }
    self.outside = outside
  }

  /// Makes the servers' signing key, which must exist before any device.
  ///
  /// - Throws: ``StorageFailure``.
  func open() async throws { _ = try await SigningKeyService(context).current() }

  /// Sends a server's due notifications.
  func send(by server: Int) async {
    await outside.round(of: server) { await senders[server].sendDue() }
  }

  /// Sends all remaining notifications, without further faults.
  ///
  /// - Throws: ``StorageFailure``.
  func sendAll() async throws {
    outside.calmDown()
    for _ in 0..<100 {
      let waiting = try await context.storage.dueDeliveries(on: .ciba, at: .max, limitPerReceiver: 1000)
      // Each delivery ends at the latest with its lifetime.
      guard let next = waiting.map(\.due).min(), next - outside.now <= Model.noticeLifetime else { return }
      outside.pass(max(0, next - outside.now))
      await send(by: 0)
    }
  }

  /// The tokens for a request.
  enum Tokens: Hashable, Sendable {
    /// No tokens: nothing was accepted, or the acceptance is no longer valid.
    case none
    /// The request is pending or not yet made, or the acceptance does not meet its requirements.
    case refused
    /// The claims of the ID token, or the reason why it could not be made.
    case made(String)
  }

  /// Makes the tokens for a polling client before the step that issues them.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - client: The polling client.
  ///   - time: The time.
  /// - Returns: The tokens.
  func tokens(for request: TransactionID, of client: ID<ClientRecord>, at time: Int64) async -> Tokens {
    let maker = IDTokenSigner(context)
    do {
      // A request or acceptance that is made during the poll has not been evaluated yet.
      guard let asked = try await context.storage.backchannelRequest(ofTransaction: request),
        let transaction = try await context.storage.transaction(request), transaction.state != .pending
      else { return .refused }
      guard asked.client == client, asked.issued == nil, transaction.state == .accepted else { return .none }
      if try await maker.refusal(of: asked, transaction) != nil {
        // The step itself finds an authenticator that is not in use any more.
        return try await maker.lapse(of: transaction) == nil ? .refused : .none
      }
      let answer = try await maker.tokens(for: asked, transaction, at: time, authReqID: nil)
      return .made(try Notice.claims(of: answer.idToken))
    } catch { return .made("none: \(error)") }
  }
}

extension Sample {
  /// The master key of a history's servers.
  static let masterKey = MasterKey(SecretBytes(copying: [UInt8](repeating: 7, count: MasterKey.byteCount)))

  /// The operator's settings.
  ///
  /// - Throws: `WireFailure`.
  static func settings() throws -> ServicePolicy {
    var settings = ServicePolicy(
      serverURL: try ServerURL("id.example.org/main"), pins: [],
      profile: ContainerProfile(protection: .device, totp: .standard))
    settings.codeAttempts = Traits.codeAttempts
    settings.codes.freeAttempts = Traits.freeCodeAttempts
    settings.codes.firstWait = Int(Traits.firstCodeWait)
    settings.codes.longestWait = Int(Traits.longestCodeWait)
    for demanded in Traits.requirements {
      var requirement = AuthenticationRequirement()
      requirement.factors = demanded.factors
      requirement.keyProtection = assurance(of: demanded.protection)
      settings.requirements.own[demanded.name] = requirement
    }
    return settings
  }

  /// One model of UAF authenticators, whose metadata has its keys in hardware.
  ///
  /// - Throws: `MessageFailure`.
  static func uaf() throws -> UAFSetup {
    var statement = MetadataStatement(
      aaid: AAID(vendor: 0x7357, model: 1), description: "A key of tests", authenticatorVersion: 1,
      algorithm: .p256RAW, keyFormat: .x962RAW,
      userVerificationDetails: [[.init(.passcode, accuracy: nil)]], keyProtection: .hardware,
      matcherProtection: .software, display: [.any])
    statement.displayContentType = UAFTransaction.ContentType.text.rawValue
    return UAFSetup(UAFSettings(facets: []), models: AuthenticatorModels([try AuthenticatorModel(statement)]))
  }

  private static func assurance(of protection: Traits.KeyProtection) -> KeyAssurance {
    switch protection {
    case .software: .software
    case .claimed: .hardwareClaimed
    case .attested: .hardwareAttested
    }
  }
}
