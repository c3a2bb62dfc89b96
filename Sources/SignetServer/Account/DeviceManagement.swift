import SignetCrypto
package import SignetJSON
import SignetPolicy
package import SignetProtocol
package import SignetStorage
import SignetSystem

/// The server's policies for devices, their reports, and commands to them (`docs/protocol.md` section 14).
package struct DeviceManagement: Sendable {
  private let context: ServiceContext
  private let evaluator = AccountPolicyEvaluator()
  /// The lifetime of a challenge, in seconds.
  private static let challengeLifetime: Int64 = 120

  /// Creates the service of a context.
  package init(_ context: ServiceContext) { self.context = context }

  // MARK: Devices

  /// Answers a device that asks for its status or sends a report.
  ///
  /// - Parameters:
  ///   - report: The report, a compact JWS; `nil` if the device only asks.
  ///   - container: The authenticated container that sends it.
  ///   - request: The id of the request, 16 bytes.
  /// - Returns: The status, a compact JWS.
  /// - Throws: ``Problem``.
  package func answer(
    _ report: String?, for container: ContainerRecord, request: [UInt8]
  ) async throws -> String {
    if let report { try await process(report, of: container) }
    let challenge = context.random.bytes(DeviceStatus.challengeByteCount)
    let now = context.clock.now
    try await context.storage.setAccountChallenge(
      challenge, expires: now + Self.challengeLifetime, of: container.id, at: now)
    let state = try await state(of: container.id)
    let commands = try await context.storage.deviceCommands(of: container.id)
    var open: [DeviceCommand] = []
    for command in commands where command.isOpen {
      guard let action = DeviceCommand.Action(rawValue: command.action.rawValue) else { continue }
      open.append(
        try DeviceCommand(id: command.id, action: action, reason: command.reason))
    }
    // A suspended user's device receives an answer only if the last open command is a lock or a wipe.
    if open.last.map({ $0.action == .unlock }) ?? true { try await requireActive(container.user) }
    let status = DeviceStatus(
      revision: state.revision, challenge: challenge, policies: try policies(of: container, state),
      compliance: DeviceStatus.Compliance(state.compliance), reason: state.reason, orders: open)
    let address = ListAddress(
      server: context.settings.serverURL, container: container.id,
      request: request)
    let signer = try await SigningKeyService(context).current()
    return try status.signed(for: address, by: signer)
  }

  private func requireActive(_ user: UserID) async throws {
    guard let found = try await context.storage.user(user) else { throw UserRecord.missing(user) }
    if found.state != .active { throw StorageFailure.userNotActive(found.state) }
  }

  private func process(_ jws: String, of container: ContainerRecord) async throws {
    let key = try P256.Signing.PublicKey(x963: container.sessionKey)
    guard let report = PostureReport.verified(jws, with: key), report.container == container.id,
      report.server == context.settings.serverURL, report.device == container.device
    else { throw Problem(.unauthorized, "The report is not signed by this container's session key.") }
    let state = try await state(of: container.id)
    let policies = try policies(of: container, state)
    var evidence = context.settings.accountRules.weighed(report.evidence)
    // The device has just reached the server, whatever its clock shows.
    (evidence.secondsSinceContact, evidence.clockSetBack) = (0, nil)
    let evaluation = await evaluator.evaluate(policies, evidence)
    // The server cannot evaluate an app's own policies, so the device's result counts for them.
    let appBreaches = evaluation.unknown.compactMap { name in
      report.lock.broken.first { $0.breach.policy == name }?.breach
    }
    let breaches = evaluation.breaches + appBreaches
    let (reaction, description) = context.settings.accountRules.gravestReaction(
      to: breaches, flavour: evidence.flavour)
    // Parts of the text come from the device.
    let reason = DeviceCommand.plain(description)
    let now = context.clock.now
    let command =
      reaction == .wipe
      ? DeviceCommandRecord(
        id: ID(random: context.random), container: container.id, action: .wipe,
        reason: reason, created: now) : nil
    let attempt = AccountReportAttempt(
      container: container.id, challenge: report.challenge, time: now, report: jws, seen: report.revision,
      verdict: reaction.compliance, reason: reason, order: command)
    let audit = context.audit(by: .container(container.id))
    let isAccepted = try await context.storage.acceptAccountReport(attempt) { isAccepted in
      audit(
        isAccepted
          ? .accountReported(
            user: container.user, container: container.id, reaction: reaction.rawValue, reason: reason,
            policies: breaches.map(\.policy))
          : .accountReportRefused(user: container.user, container: container.id))
    }
    guard isAccepted else {
      throw Problem(.reportReplayed, "Request a new challenge, and answer that one.")
    }
  }

  /// Verifies a device's receipt for a command; the same receipt again changes nothing.
  ///
  /// It may arrive late, and from a container that a wipe has ended.
  ///
  /// - Parameter body: The request body.
  /// - Throws: ``Problem``.
  func receive(_ body: [UInt8]) async throws {
    let signed = try reading(SignedCommandAcknowledgement(parsing: body))
    let found = try await context.storage.container(signed.container)
    guard let container = found else {
      throw Problem(.containerUnknown, "There is no container with this id.")
    }
    let key = try P256.Signing.PublicKey(x963: container.sessionKey)
    guard let acknowledgement = signed.receipt(verifiedWith: key),
      acknowledgement.server == context.settings.serverURL,
      acknowledgement.device == container.device
    else { throw Problem(.unauthorized, "The receipt is not signed by this container's session key.") }
    let command = try await command(acknowledgement.order, of: container)
    guard let command, command.action.rawValue == acknowledgement.action.rawValue else {
      throw Problem(.unknown, "There is no such order for this container.")
    }
    let event = context.audit(by: .container(container.id))(
      .accountOrderDone(
        user: container.user, container: command.container, order: command.id, command.action,
        deviceTime: acknowledgement.time))
    _ = try await context.storage.receiveDeviceCommand(
      command.id, of: command.container, receipt: signed.jws, at: context.clock.now, audit: event,
      lost: context.losses(by: .container(container.id)))
  }

  /// Returns a command of a container, or of another one on the same device: a successor inherits open commands.
  private func command(
    _ id: DeviceCommandID, of container: ContainerRecord
  ) async throws -> DeviceCommandRecord? {
    for other in try await context.storage.containers(user: container.user)
    where other.device == container.device {
      let commands = try await context.storage.deviceCommands(of: other.id)
      if let found = commands.first(where: { $0.id == id }) { return found }
    }
    return nil
  }

  // MARK: Operators

  /// Adds a command for a container's device; the server itself applies a lock at once.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - id: The container.
  ///   - reason: The reason, for the device's user and the audit log.
  ///   - actor: The caller's name in the audit log.
  /// - Returns: The command.
  /// - Throws: ``Problem``: `unknown` for a container that is not in use, `containerLocked` to unlock one with a pending
  ///   wipe; ``StorageFailure/altered(row:of:)``.
  package func command(
    _ action: DeviceCommand.Action, for id: ContainerID, reason: String, by actor: AuditActor
  ) async throws -> DeviceCommandRecord {
    try reading(DeviceCommand.check(reason: reason))
    guard let kind = DeviceCommandRecord.Action(rawValue: action.rawValue) else {
      throw Problem(.malformed, "There is no such order.")
    }
    let command = DeviceCommandRecord(
      id: ID(random: context.random), container: id, action: kind, reason: reason,
      created: context.clock.now)
    let event = context.audit(by: actor)(
      .accountOrdered(container: id, order: command.id, kind, reason: reason))
    let outcome: DeviceCommandOutcome
    do throws(StorageFailure) {
      outcome = try await context.storage.addDeviceCommand(command, audit: event)
    } catch {
      guard error == .deviceLocked else { throw error }
      throw Problem(
        .deviceLocked,
        "An operator has locked the device itself; unlock it with 'signet-server device unlock'.")
    }
    switch outcome {
    case .added: return command
    case .notInUse: throw Self.notInUse
    case .toBeWiped:
      throw Problem(
        .containerLocked, "An operator ordered its deletion; the device may have deleted it already.")
    }
  }

  /// Attaches policies to a container; its device receives them when it next reaches the server.
  ///
  /// - Parameters:
  ///   - policies: The policies as JSON; `nil` to restore those of its profile.
  ///   - id: The container.
  ///   - actor: The caller's name in the audit log.
  /// - Returns: The names of those policies that this server does not evaluate.
  /// - Throws: ``Problem``: `malformed`, `unknown`.
  @discardableResult
  package func attach(
    _ policies: JSONObject?, to id: ContainerID, by actor: AuditActor
  ) async throws -> [String] {
    var unknown: [String] = []
    var bytes: [UInt8]?
    if let policies {
      do throws(AccountPolicyFailure) {
        let set = try AccountPolicySet(policies)
        unknown = try evaluator.registry.check(set)
        bytes = set.json.bytes
      } catch { throw Problem(.malformed, error.description) }
    }
    let event = context.audit(by: actor)(
      .accountPoliciesAttached(container: id, policies: policies?.members.map(\.name)))
    let exists = try await context.storage.setAccountPolicies(bytes, of: id, audit: event)
    guard exists else { throw Self.notInUse }
    return unknown
  }

  /// Returns a container's policies, locks, reports and commands, for an operator.
  ///
  /// - Throws: ``Problem/Code/containerAltered``, since the policies in an altered row cannot be trusted.
  func description(of container: ContainerRecord) async throws -> AccountDescription {
    guard container.state != .altered else { throw Problem(alteredContainer: container.id) }
    let state = try await state(of: container.id)
    let commands = try await context.storage.deviceCommands(of: container.id)
    return AccountDescription(
      container: container.id, compliance: state.compliance,
      reason: state.reason.isEmpty ? nil : state.reason,
      policies: try policies(of: container, state).json, reportRequested: container.reportRequested > 0,
      report: state.report, reported: state.reported,
      commands: commands.map { command in
        AccountDescription.Command(
          id: command.id, action: command.action, reason: command.reason, created: command.created,
          done: command.receipt != nil && !command.isAltered, receipt: command.receipt,
          received: command.received)
      })
  }

  private static let notInUse = Problem(.unknown, "There is no active container with this id.")

  // MARK: States

  private func state(of container: ContainerID) async throws -> AccountStateRecord {
    let state = try await context.storage.accountState(of: container)
    guard let state else { throw Problem(.unknown, "There is no container with this id.") }
    return state
  }

  /// Returns the attached policies, or else those of the container's profile.
  private func policies(
    of container: ContainerRecord, _ state: AccountStateRecord
  ) throws -> AccountPolicySet {
    guard let bytes = state.policies else {
      return try ContainerProfile(stored: container.profile).accountPolicies
    }
    do { return try AccountPolicySet(parsing: bytes) } catch {
      context.log.error("account.policiesUnreadable", ["cause": error.description])
      throw Problem(.serverFailure, "See the server's log.")
    }
  }
}

extension DeviceStatus.Compliance {
  fileprivate init(_ compliance: ComplianceState) {
    self =
      switch compliance {
      case .open: .open
      case .stepUp: .stepUp
      case .locked: .locked
      }
  }
}
