/// One step of the server, as a test has it taken and as the model judges it.
package enum Step: Hashable, Sendable {
  case addUser(String)
  /// A relying party, with its key.
  case addParty(String)
  case revokeParty(String)
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
  /// A container's device says that it has deleted the container, or was made to.
  case end(container: String, isWiped: Bool)
  /// What an operator orders of a device, and by an order of the container there.
  case lockDevice(user: String, device: UInt8, order: String)
  case unlockDevice(user: String, device: UInt8, order: String)
  case revokeDevice(user: String, device: UInt8)
  /// A code that a container or a token makes for a counter, or for a step of time, for an end user at an address.
  case code(of: String, user: String, counter: Int64, from: String, by: String)
  /// Two codes in a row, of this counter and the next.
  case resynchronise(of: String, user: String, counter: Int64, from: String, by: String)
  /// A token comes into the stock, or to a user.
  case addToken(String, user: String?)
  case assign(token: String, user: String?)
  case disable(token: String, Bool)
  case removeToken(String)
  /// The first code of a token, of its user by a party, or of whomever by an operator.
  case verify(token: String, user: String?, counter: Int64, from: String, by: String?)
  /// An operator forgets what a user did wrong.
  case unlock(user: String)
  case ask(request: String, user: String?, expires: Int64, by: String)
  case decide(
    container: String, user: String, device: UInt8, request: String, accepts: Bool, isNumberRight: Bool)
  case withdraw(request: String, by: String)
  /// A client of OpenID Connect.
  case addClient(String)
  case revokeClient(String)
  /// A client asks a user by backchannel authentication: whoever has a container by that, and besides by messages to apps, and by UAF operations
  /// whose tokens go to targets.
  case backchannel(
    request: String, user: String, expires: Int64, messages: [Sending], operations: [Sending],
    by: String)
  /// A client looks how its request stands.
  case poll(request: String, by: String)
  /// A client gets the tokens of its request.
  case issue(request: String, by: String)
  /// A UAF operation; of one that a party has sent to the user's device, `by` says whose it is.
  case begin(session: String, user: String, isRegistration: Bool, request: String?, by: String?)
  /// The public key is that of the key, or of the container, of this name.
  case register(session: String, key: String, publicKey: String, user: String, device: UInt8?)
  case login(session: String, user: String, key: String, counter: UInt32)
  case removeKey(String, user: String)
  /// What UAF tokens are sent to, on a device that says which it is or on one that does not.
  case addTarget(String, user: String, device: UInt8?)
  case removeTarget(String)
  /// A user takes away the keys and targets on a device.
  case removeUAF(user: String, device: UInt8)
  /// A UAF operation that a party has sent to a target.
  case token(
    session: String, target: String, user: String, isRegistration: Bool, request: String?, by: String)
  /// What a token stands for is given out.
  case redeem(session: String)
  /// The client of UAF cannot do it, or its user does not want to.
  case refuse(session: String)
  case addApp(String, user: String)
  case registerApp(String)
  /// A request that one app answers alone, to the message of this name.
  case message(String, request: String, app: String, user: String, expires: Int64, by: String)
  case answer(message: String, approves: Bool)
  case removeApp(String)
  case sweep

  package enum OrderKind: Hashable, Sendable { case lock, unlock, wipe }

  /// What is sent with a request.
  package struct Sending: Hashable, Sendable {
    package let name: String
    /// The app or the target that it goes to.
    package let to: String

    package init(_ name: String, to receiver: String) { (self.name, to) = (name, receiver) }
  }
}
