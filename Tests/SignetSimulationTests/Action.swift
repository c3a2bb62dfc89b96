import AccountModel
import SignetTestKit

/// What a client does in a history; what it makes is named by its place there.
enum Action: Hashable, Sendable {
  case addUser(Int)
  case suspend(Int)
  case resume(Int)
  case delete(Int)
  case addParty(Int)
  case revokeParty(Int)
  /// Invites a device, whose two messages make a container.
  case enrol(user: Int, device: Int)
  /// Makes the successor of a container.
  case renew(container: Int)
  case revoke(container: Int)
  case lock(container: Int)
  case unlock(container: Int)
  case wipe(container: Int)
  /// The word of a container's device that an order was done.
  case receipt(order: Int, container: Int)
  /// A container's device says that it has deleted the container, or was made to.
  case end(container: Int, isWiped: Bool)
  case lockDevice(user: Int, device: Int)
  case unlockDevice(user: Int, device: Int)
  case revokeDevice(user: Int, device: Int)
  /// A code of a container, or of a token; where the time counts, the counter is what the clock is ahead.
  case code(of: Int, user: Int, counter: Int64, address: Int, party: Int)
  /// Two codes in a row.
  case resynchronise(of: Int, user: Int, counter: Int64, address: Int, party: Int)
  /// A token for a user, or for nobody yet.
  case addToken(user: Int?)
  case assign(token: Int, user: Int?)
  case disable(token: Int, Bool)
  case removeToken(Int)
  /// The first code of a token, of its user, or of whomever where an operator does it.
  case verify(token: Int, user: Int?, counter: Int64, address: Int, party: Int)
  case unlockUser(Int)
  /// Asks a user, or anybody.
  case ask(user: Int?, lifetime: Int64, party: Int)
  case decide(container: Int, request: Int, accepts: Bool, isNumberRight: Bool)
  case withdraw(request: Int, party: Int)
  /// On a device that says which it is, or on one that does not.
  case registerKey(user: Int, device: Int?)
  /// A key that there is or was, for whomever, or under a new name the public key of a container.
  case registerAgain(key: Int, user: Int)
  case registerKeyOf(container: Int, user: Int)
  /// Asked for by the user, or by a party that has it sent to the user's device.
  case login(key: Int, counter: UInt32, request: Int?, party: Int?)
  case removeKey(Int)
  /// What UAF tokens are sent to, on a device that says which it is, or on one that does not.
  case addTarget(user: Int, device: Int?)
  case removeTarget(Int)
  /// The user takes away the keys and targets on a device.
  case removeUAF(user: Int, device: Int)
  /// A party has a token sent: for a key that is to be registered, or for a login.
  case token(target: Int, isRegistration: Bool, request: Int?, party: Int)
  /// Redeems a token, and makes a key on a device that the client names, or logs in with one.
  case registerByToken(Int, device: Int?)
  case loginByToken(Int, key: Int, counter: UInt32)
  case refuseToken(Int)
  case enrolApp(user: Int)
  case message(app: Int, lifetime: Int64, party: Int)
  case answer(message: Int, approves: Bool)
  case removeApp(Int)
  case addClient(Int)
  case revokeClient(Int)
  /// A client of OpenID Connect asks a user, who has these apps and targets.
  case backchannel(user: Int, apps: [Int], targets: [Int], lifetime: Int64, client: Int)
  /// To what such a request has sent to an app.
  case answerRequest(Int, app: Int, approves: Bool)
  /// The same to a target.
  case answerRequestByKey(Int, target: Int, key: Int, counter: UInt32)
  /// A client looks how its request stands, and gets tokens for it.
  case poll(request: Int, client: Int)
  /// A client looks again and again, without a pause.
  case pollOften(request: Int, client: Int)
  /// A server tells clients how their requests ended, as far as that is due.
  case send
  case pass(seconds: Int64)
  case sweep
  /// A server goes down with what it is about, and another takes its place.
  case crash
}

/// What several clients of two servers do: each does its actions in order, and the scheduler decides who goes on.
struct History: Sendable {
  static let userCount = 3
  static let deviceCount = 2
  static let partyCount = 2
  /// Of clients of OpenID Connect.
  static let openIDClientCount = 3
  static let clientCount = 4
  static let serverCount = 2
  /// So small that histories come to its end.
  static let budget = Model.Budget(pending: 4, challenges: 5, wait: 20, longestWait: 60)
  /// An action begins once all those have ended that are so many places before it.
  static let window = 5

  let seed: UInt64
  /// Seeds the order in which tasks and steps go on, and what goes wrong.
  var schedule: UInt64
  /// All that was drawn, by which names are found.
  let actions: [Action]
  /// The places of those that are done.
  var kept: [Int]

  /// Draws a history.
  init(seed: UInt64, count: Int = 44) {
    (self.seed, schedule) = (seed, seed)
    var random = SplitMix64(seed: seed)
    var drawing = Drawing()
    actions = (0..<count).map { drawing.action(at: $0, &random) }
    kept = Array(0..<count)
  }

  /// Who does an action.
  static func client(of place: Int) -> Int { place % clientCount }

  // MARK: Names

  static func user(_ number: Int) -> String { "user\(number)" }

  static func party(_ number: Int) -> String { "party\(number)" }

  static func client(_ number: Int) -> String { "client\(number)" }

  /// The message of a request to an app.
  static func message(of request: Int, to app: Int) -> String { "g\(request)-\(app)" }

  /// The operation of a request whose token goes to a target.
  static func operation(of request: Int, to target: Int) -> String { "s\(request)-\(target)" }

  /// The UAF operations that there can be.
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

  /// Whose a container, a key, an app or a message is, by what made it.
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

  /// The invite with which the first of a row of containers began.
  func activation(of container: Int) -> String {
    switch actions[container] {
    case .renew(let renewed): activation(of: renewed)
    default: "a\(container)"
    }
  }
}
