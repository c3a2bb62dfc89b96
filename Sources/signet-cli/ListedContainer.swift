import Signet
import SignetJSON
import SignetPolicy
import SignetTerminal

/// A container in `signet list`: with its lock, and the locks of keys that have their own.
struct ListedContainer {
  private let container: Container
  private let state: ContainerState
  private let account: AccountStatus?
  private let protectedKeys: [(key: Key, state: ContainerState)]

  init(_ container: Container, on device: Device) async throws {
    self.container = container
    state = try await ContainerState(of: container, on: device)
    account = container.isConfirmed ? try await device.evaluateAccountPolicies(of: container) : nil
    var protectedKeys: [(key: Key, state: ContainerState)] = []
    for key in container.keys where key.hasOwnProtection {
      protectedKeys.append((key, try await ContainerState(of: container, key: key.usage, on: device)))
    }
    self.protectedKeys = protectedKeys
  }

  var row: [String] {
    let protections = protectedKeys.map { key, state in
      let lock = if case .ready = state { "" } else { " (\(state))" }
      return "\(key.usage.name): \(key.protection.type)\(lock)"
    }
    return [
      container.shortID, container.user.text, container.server.shortForm,
      container.name, stateText,
      Moment.text(container.created),
      ([container.profile.protection.type] + protections).joined(separator: ", "),
    ]
  }

  private var stateText: String {
    guard container.isConfirmed else { return "not confirmed" }
    if let lock = account?.lock.shown { return lock }
    return container.unknownToServerSince == nil ? state.description : "unknown to its server"
  }

  var json: JSONObject {
    var json = container.json
    json["lock"] = .object(state.json)
    if let account { json["account"] = .object(account.json) }
    var locks = JSONObject()
    for (key, state) in protectedKeys { locks[key.usage.name.rawValue] = .object(state.json) }
    if !locks.isEmpty { json["keyLocks"] = .object(locks) }
    return json
  }
}

extension AccountLock {
  /// The origin of the lock, in a word or two; `nil` if it is not locked.
  var shown: String? {
    guard isLocked else { return nil }
    let by = sources.contains(.server) ? "by its server" : "by hand"
    return "locked (\(lockingPolicy ?? by))"
  }
}

extension Key {
  var json: JSONObject {
    [
      "key": .string(usage.name.rawValue), "label": .string(label), "protection": .string(protection.type),
      "hasOwnProtection": .bool(hasOwnProtection),
    ]
  }
}

extension ProtectionPolicy {
  /// The type, as in the JSON form.
  fileprivate var type: String {
    guard case .string(let type)? = json["type"] else { return "unknown" }
    return type
  }
}
