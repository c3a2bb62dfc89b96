/// One step of the server, as the tests make it and as the model judges it.
package enum Step: Hashable, Sendable {
  case addUser(String)
  /// A relying party with its key.
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
  /// The container's device reports that it has deleted the container, on its own or by an order.
  case end(container: String, isWiped: Bool)
  /// An operator locks, unlocks or revokes a device; `order` names the order to its container.
  case lockDevice(user: String, device: UInt8, order: String)
  case unlockDevice(user: String, device: UInt8, order: String)
  case revokeDevice(user: String, device: UInt8)
  /// A container's or token's code for a counter or time step, sent for an end user at an address.
  case code(of: String, user: String, counter: Int64, from: String, by: String)
  /// Two codes in a row, of this counter and the next.
  case resynchronise(of: String, user: String, counter: Int64, from: String, by: String)
  /// An operator adds a token, to the stock or to a user.
  case addToken(String, user: String?)
  case assign(token: String, user: String?)
  case disable(token: String, Bool)
  case removeToken(String)
  /// The first code of a token, sent by a party for its user or by an operator for any token.
  case verify(token: String, user: String?, counter: Int64, from: String, by: String?)
  /// An operator resets a user's counts of failures.
  case unlock(user: String)
  case ask(request: String, user: String?, expires: Int64, by: String)
  case decide(
    container: String, user: String, device: UInt8, request: String, accepts: Bool, isNumberRight: Bool)
  case withdraw(request: String, by: String)
  /// A client of OpenID Connect.
  case addClient(String)
  case revokeClient(String)
  /// A backchannel authentication request of a client, to the user's containers, apps (messages) and targets (UAF operations).
  case backchannel(
    request: String, user: String, expires: Int64, messages: [Sending], operations: [Sending],
    by: String)
  /// A client polls for the state of its request.
  case poll(request: String, by: String)
  /// A client receives the tokens of its request.
  case issue(request: String, by: String)
  /// A UAF operation; `by` is the party, if one sent it to the user's device.
  case begin(session: String, user: String, isRegistration: Bool, request: String?, by: String?)
  /// Registers a key; `publicKey` names the key or container that has this public key.
  case register(session: String, key: String, publicKey: String, user: String, device: UInt8?)
  case login(session: String, user: String, key: String, counter: UInt32)
  case removeKey(String, user: String)
  /// Adds a target of UAF tokens; `device` is `nil` if the client reports none.
  case addTarget(String, user: String, device: UInt8?)
  case removeTarget(String)
  /// A user removes the keys and targets on a device.
  case removeUAF(user: String, device: UInt8)
  /// A UAF operation that a party sends to a target.
  case token(
    session: String, target: String, user: String, isRegistration: Bool, request: String?, by: String)
  /// The client redeems a token for its operation.
  case redeem(session: String)
  /// The UAF client cannot do the operation, or its user declines.
  case refuse(session: String)
  case addApp(String, user: String)
  case registerApp(String)
  /// A request to one app alone, with the message of this name.
  case message(String, request: String, app: String, user: String, expires: Int64, by: String)
  case answer(message: String, approves: Bool)
  case removeApp(String)
  case sweep

  package enum OrderKind: Hashable, Sendable { case lock, unlock, wipe }

  /// A message or an operation that is sent with a request.
  package struct Sending: Hashable, Sendable {
    package let name: String
    /// The receiving app or target.
    package let to: String

    package init(_ name: String, to receiver: String) { (self.name, to) = (name, receiver) }
  }
}
