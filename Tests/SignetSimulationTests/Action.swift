import AccountModel
import SignetTestKit

/// A client's action in a history; the objects that it makes are named by its index.
enum Action: Hashable, Sendable {
  case addUser(Int)
  case suspend(Int)
  case resume(Int)
  case delete(Int)
  case addParty(Int)
  case revokeParty(Int)
  /// Invites a device, whose two messages make a container.
  case enrol(user: Int, device: Int)
  /// Renews a container.
  case renew(container: Int)
  case revoke(container: Int)
  case lock(container: Int)
  case unlock(container: Int)
  case wipe(container: Int)
  /// The receipt of a container's device for an order.
  case receipt(order: Int, container: Int)
  /// The container's device reports that it has deleted the container, on its own or by an order.
  case end(container: Int, isWiped: Bool)
  case lockDevice(user: Int, device: Int)
  case unlockDevice(user: Int, device: Int)
  case revokeDevice(user: Int, device: Int)
  /// A code of a container or a token; for time-based codes, the counter is the offset of the clock.
  case code(of: Int, user: Int, counter: Int64, address: Int, party: Int)
  /// Two codes in a row.
  case resynchronise(of: Int, user: Int, counter: Int64, address: Int, party: Int)
  /// A token for a user, or without a user yet.
  case addToken(user: Int?)
  case assign(token: Int, user: Int?)
  case disable(token: Int, Bool)
  case removeToken(Int)
  /// The first code of a token, sent by its user or by an operator for any token.
  case verify(token: Int, user: Int?, counter: Int64, address: Int, party: Int)
  case unlockUser(Int)
  /// Makes a request to one user, or to any user.
  case ask(user: Int?, lifetime: Int64, party: Int)
  case decide(container: Int, request: Int, accepts: Bool, isNumberRight: Bool)
  case withdraw(request: Int, party: Int)
  /// On a device that the client names, or without one.
  case registerKey(user: Int, device: Int?)
  /// Registers an earlier key again, for any user, or a container's public key under a new name.
  case registerAgain(key: Int, user: Int)
  case registerKeyOf(container: Int, user: Int)
  /// A login that the user begins, or a party that sends it to the user's device.
  case login(key: Int, counter: UInt32, request: Int?, party: Int?)
  case removeKey(Int)
  /// A target of UAF tokens, on a device that the client names, or without one.
  case addTarget(user: Int, device: Int?)
  case removeTarget(Int)
  /// The user removes the keys and targets on a device.
  case removeUAF(user: Int, device: Int)
  /// A party sends a token, for a registration or for a login.
  case token(target: Int, isRegistration: Bool, request: Int?, party: Int)
  /// Redeems a token, and registers a key on a device that the client names, or logs in with one.
  case registerByToken(Int, device: Int?)
  case loginByToken(Int, key: Int, counter: UInt32)
  case refuseToken(Int)
  case enrolApp(user: Int)
  case message(app: Int, lifetime: Int64, party: Int)
  case answer(message: Int, approves: Bool)
  case removeApp(Int)
  case addClient(Int)
  case revokeClient(Int)
  /// A client of OpenID Connect asks a user with these apps and targets.
  case backchannel(user: Int, apps: [Int], targets: [Int], lifetime: Int64, client: Int)
  /// Answers such a request with an app.
  case answerRequest(Int, app: Int, approves: Bool)
  /// Answers such a request with a target's key.
  case answerRequestByKey(Int, target: Int, key: Int, counter: UInt32)
  /// A client polls its request, and gets the tokens.
  case poll(request: Int, client: Int)
  /// A client polls repeatedly without a pause.
  case pollOften(request: Int, client: Int)
  /// A server sends the due notifications to clients.
  case send
  case pass(seconds: Int64)
  case sweep
  /// A server crashes with its current work, and another replaces it.
  case crash
}

/// The actions of several clients of two servers: each client runs its actions in order, and the scheduler selects the next one.
struct History: Sendable {
  static let userCount = 3
  static let deviceCount = 2
  static let partyCount = 2
  /// The number of clients of OpenID Connect.
  static let openIDClientCount = 3
  static let clientCount = 4
  static let serverCount = 2
  /// So small that histories exhaust it.
  static let budget = Model.Budget(pending: 4, challenges: 5, wait: 20, longestWait: 60)
  /// The window of concurrent actions: an action begins once all actions this far before it have ended.
  static let window = 5

  let seed: UInt64
  /// The seed of the order of tasks and steps, and of the faults.
  var schedule: UInt64
  /// All drawn actions, by whose indices objects are named.
  let actions: [Action]
  /// The indices of the actions that run.
  var kept: [Int]

  /// Draws a history.
  init(seed: UInt64, count: Int = 44) {
    (self.seed, schedule) = (seed, seed)
    var random = SplitMix64(seed: seed)
    var drawing = Drawing()
    actions = (0..<count).map { drawing.action(at: $0, &random) }
    kept = Array(0..<count)
  }

  /// The client of an action.
  static func client(of place: Int) -> Int { place % clientCount }

  // MARK: Names

  static func user(_ number: Int) -> String { "user\(number)" }

  static func party(_ number: Int) -> String { "party\(number)" }

  static func client(_ number: Int) -> String { "client\(number)" }

  /// The message of a request to an app.
  static func message(of request: Int, to app: Int) -> String { "g\(request)-\(app)" }

  /// The operation of a request whose token goes to a target.
  static func operation(of request: Int, to target: Int) -> String { "s\(request)-\(target)" }

  /// All possible UAF operations.
  var operations: [String] {
    kept.flatMap { place -> [String] in
      switch actions[place] {
      case .registerKey, .registerAgain, .registerKeyOf, .login, .token: return ["s\(place)"]
      case .backchannel(_, _, let targets, _, _): return targets.map { Self.operation(of: place, to: $0) }
      default: return []
      }
    }
  }

  static func address(_ number: Int) -> String { "address\(number)" }

  /// The container or the token that makes codes.
  func maker(_ place: Int) -> String {
    if case .addToken = actions[place] { "x\(place)" } else { "c\(place)" }
  }

  /// The counter of a code.
  func counter(_ counter: Int64, of maker: Int, at time: Int64) -> Int64 {
    Traits.isTimed(self.maker(maker)) ? time / Traits.period + counter : counter
  }

  /// The owner of a container, a key, an app or a message, by the action that made it.
  func user(of place: Int) -> String {
    switch actions[place] {
    case .enrol(let user, _), .registerKey(let user, _), .registerKeyOf(_, let user), .enrolApp(let user),
      .addTarget(let user, _):
      Self.user(user)
    case .token(let target, _, _, _): user(of: target)
    case .registerByToken(let token, _): user(of: token)
    case .renew(let container): user(of: container)
    case .message(let app, _, _): user(of: app)
    default: preconditionFailure("nothing of a user is made there")
    }
  }

  /// The device of a container.
  func device(of container: Int) -> UInt8 {
    switch actions[container] {
    case .enrol(_, let device): UInt8(device)
    case .renew(let renewed): device(of: renewed)
    default: preconditionFailure("no container is made there")
    }
  }

  /// The invite for the first container of a line.
  func activation(of container: Int) -> String {
    switch actions[container] {
    case .renew(let renewed): activation(of: renewed)
    default: "a\(container)"
    }
  }
}
