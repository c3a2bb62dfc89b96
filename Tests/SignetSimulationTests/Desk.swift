import AccountModel
import SignetCrypto
import SignetPolicy
import SignetServer
import SignetStorage
import SignetUAF
import SignetWire

/// What the services of a server say within steps of its storage.
struct Judges: Sendable {
  let codes: CodeService
  let transactions: TransactionService
  let uaf: UAFJudge
  let able: AbleAuthenticators

  fileprivate init(_ context: ServiceContext, _ setup: UAFSetup) {
    (codes, transactions) = (CodeService(context), TransactionService(context))
    (uaf, able) = (UAFJudge(context, setup), context.able)
  }
}

/// The services of the servers of a history that make tokens and tell clients how their requests ended.
struct Desk: Sendable {
  let judges: Judges
  private let context: ServiceContext
  private let senders: [OutboxSender]
  private let outside: Outside

  /// Takes over what the servers have.
  ///
  /// - Parameters:
  ///   - servers: Their ways to the database.
  ///   - outside: What is around them.
  ///   - executor: Where what they do by themselves runs; `nil` for the shared pool.
  /// - Throws: What goes wrong while settings are put together.
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

  /// Makes the key that the servers sign with, which is there before any device.
  ///
  /// - Throws: ``StorageFailure``.
  func open() async throws { _ = try await SigningKeyService(context).current() }

  /// Has a server tell clients what is due.
  func send(by server: Int) async {
    await outside.round(of: server) { await senders[server].sendDue() }
  }

  /// Has what clients have not been told yet told to them, now that nothing goes wrong any more.
  ///
  /// - Throws: ``StorageFailure``.
  func sendAll() async throws {
    outside.calmDown()
    for _ in 0..<100 {
      let waiting = try await context.storage.dueDeliveries(on: .ciba, at: .max, limitPerReceiver: 1000)
      // Nothing has to wait for longer than until it is too old.
      guard let next = waiting.map(\.due).min(), next - outside.now <= Model.noticeLifetime else { return }
      outside.pass(max(0, next - outside.now))
      await send(by: 0)
    }
  }

  /// What the tokens for a request say.
  enum Tokens: Hashable, Sendable {
    /// There are none: nothing was accepted, or it is good for nothing any more.
    case none
    /// Nothing is asked or accepted yet, or what was accepted does not do for what was asked.
    case refused
    /// The claims of the ID token, or why it could not be made.
    case made(String)
  }

  /// Makes the tokens for a client that asks for them, as they are made before the step that gives them out.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - client: Who asks.
  ///   - time: When.
  /// - Returns: The tokens.
  func tokens(for request: TransactionID, of client: ID<ClientRecord>, at time: Int64) async -> Tokens {
    let maker = IDTokenSigner(context)
    do {
      // What is asked or accepted while the client asks for tokens has been judged by nobody.
      guard let asked = try await context.storage.backchannelRequest(ofTransaction: request),
        let transaction = try await context.storage.transaction(request), transaction.state != .pending
      else { return .refused }
      guard asked.client == client, asked.issued == nil, transaction.state == .accepted else { return .none }
      if try await maker.refusal(of: asked, transaction) != nil {
        // What is out of use is for the step to find.
        return try await maker.lapse(of: transaction) == nil ? .refused : .none
      }
      let answer = try await maker.tokens(for: asked, transaction, at: time, authReqID: nil)
      return .made(try Notice.claims(of: answer.idToken))
    } catch { return .made("none: \(error)") }
  }
}

extension Sample {
  /// The key of what the servers of a history keep secret.
  static let masterKey = MasterKey(SecretBytes(copying: [UInt8](repeating: 7, count: MasterKey.byteCount)))

  /// What the operator has decided.
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

  /// One model of UAF authenticators, whose metadata say that it keeps its keys in hardware.
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
