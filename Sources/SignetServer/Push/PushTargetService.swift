import SignetCrypto
import SignetJSON
package import SignetProtocol
import SignetPush
package import SignetStorage
import SignetSystem

/// The push targets of containers (`docs/protocol.md` section 10).
package struct PushTargetService: Sendable {
  /// The largest number of targets for each container: an app, its watch, a browser and one to spare.
  static let limit = 4

  private let context: ServiceContext

  /// Creates the service of a context.
  package init(_ context: ServiceContext) { self.context = context }

  /// Adds a target.
  ///
  /// - Parameters:
  ///   - body: The request body.
  ///   - container: The authenticated container of the target.
  /// - Returns: The target's id.
  /// - Throws: ``Problem``.
  package func add(_ body: [UInt8], for container: ContainerRecord) async throws -> PushTargetID {
    let form = try reading(PushTargetForm(parsing: body))
    guard let target = form.target else { throw Problem(.malformed, "\"target\" is missing") }
    try requireService(of: target)
    let id = PushTargetID(random: context.random)
    let record = PushTargetRecord(
      id: id, container: container.id, name: form.name ?? "", service: target.service.rawValue,
      sealedTarget: try sealed(target, id), created: context.clock.now)
    let event = audit(container)(.pushTargetAdded(target: id, service: record.service))
    let isAdded = try await context.storage.addPushTarget(record, limit: Self.limit, audit: event)
    guard isAdded else {
      throw Problem(.exists, "This container has \(Self.limit) targets; remove or change one.")
    }
    return id
  }

  /// Returns a container's targets and the available services.
  ///
  /// - Throws: ``Problem``.
  package func list(for container: ContainerRecord) async throws -> PushTargetList {
    let records = try await context.storage.pushTargets(container: container.id)
    var entries: [PushTargetList.Entry] = []
    for record in records {
      entries.append(
        try PushTargetList.Entry(
          id: record.id, name: record.name, target: target(of: record),
          created: record.created))
    }
    let services = PushTarget.Service.allCases.filter { context.push.delivery.services.contains($0) }
    return PushTargetList(targets: entries, services: services, webPushKey: context.push.webPushKey)
  }

  /// Changes a target's name, its address, or both.
  ///
  /// - Throws: ``Problem``.
  package func change(
    _ id: PushTargetID, to body: [UInt8], for container: ContainerRecord
  ) async throws {
    let form = try reading(PushTargetForm(parsing: body))
    var changed: (service: String, sealed: [UInt8])?
    if let target = form.target {
      try requireService(of: target)
      changed = (target.service.rawValue, try sealed(target, id))
    }
    let event = audit(container)(.pushTargetChanged(target: id, service: changed?.service))
    let exists = try await context.storage.changePushTarget(
      id, of: container.id, name: form.name, target: changed, audit: event)
    guard exists else { throw Self.noTarget }
  }

  /// Removes a target.
  ///
  /// - Throws: ``Problem``.
  package func remove(_ id: PushTargetID, of container: ContainerRecord) async throws {
    let event = audit(container)(.pushTargetRemoved(target: id))
    let exists = try await context.storage.removePushTarget(
      id, of: container.id, ifSealed: nil, audit: event)
    guard exists else { throw Self.noTarget }
  }

  private static let noTarget = Problem(.unknown, "There is no push target with this id.")

  package func target(of record: PushTargetRecord) throws(WireFailure) -> PushTarget {
    let text: SecretBytes
    do { text = try context.masterKey.open(record.sealedTarget, for: .pushTarget(id: record.id)) } catch {
      throw .notAuthentic
    }
    let object: JSONObject
    do { object = try JSONObject(parsing: text.insecureCopy()) } catch { throw .json(error) }
    return try PushTarget(object)
  }

  private func sealed(_ target: PushTarget, _ id: PushTargetID) throws -> [UInt8] {
    let text = SecretBytes(copying: JSONValue.object(target.json).bytes)
    return try context.masterKey.seal(text, for: .pushTarget(id: id))
  }

  private func requireService(of target: PushTarget) throws(Problem) {
    guard context.push.delivery.services.contains(target.service) else {
      throw Problem(
        .malformed,
        "This server does not send pushes by \"\(target.service.rawValue)\"; use one of \"services\".")
    }
    guard context.push.delivery.mayCarry(target) else {
      throw Problem(.malformed, "This server does not send pushes to the host of \"endpoint\".")
    }
  }

  private func audit(_ container: ContainerRecord) -> Audit { context.audit(by: .container(container.id)) }
}
