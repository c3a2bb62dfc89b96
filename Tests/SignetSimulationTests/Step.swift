/// One step of the storage, as the simulation takes it and as the model judges it.
enum Step: Hashable, Sendable {
  case addUser(String)
  case suspend(String)
  case resume(String)
  case delete(String)
  case invite(activation: String, user: String)
  case finish(activation: String, container: String, user: String, device: UInt8)
  case confirm(container: String)
  case stage(container: String, renewing: String, activation: String, user: String, device: UInt8)
  case revoke(container: String)
  case order(String, container: String, OrderKind)
  case receipt(order: String, container: String)
  case code(container: String, user: String, counter: Int64)
  case ask(request: String, user: String?, expires: Int64)
  case decide(container: String, user: String, device: UInt8, request: String, accepts: Bool)
  case withdraw(request: String)
  case begin(session: String, user: String, isRegistration: Bool, request: String?)
  case register(session: String, key: String, user: String, device: UInt8?)
  case login(session: String, user: String, key: String, counter: UInt32)
  case removeKey(String, user: String)
  case addApp(String, user: String)
  case registerApp(String)
  case message(String, app: String, expires: Int64)
  case answer(message: String, approves: Bool)
  case removeApp(String)
  case sweep

  enum OrderKind: Hashable, Sendable { case lock, unlock, wipe }
}

/// A step as it was tried once, and what the client heard.
struct Attempt: Hashable, Sendable {
  /// Names the attempt in the audit log.
  let name: String
  let step: Step
  /// The time that the server went by.
  let time: Int64
  /// When it began, and when the client heard, in moments of the run; no two have the same.
  let began: Int
  var ended: Int?
  /// What the client heard; `nil` where the answer was lost.
  var answer: String?
}
