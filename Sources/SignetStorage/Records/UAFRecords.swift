/// A key of a UAF authenticator, as it was registered.
public struct UAFCredentialRecord: Hashable, Sendable {
  /// Whether a key may still be used.
  public enum State: String, Hashable, Sendable {
    /// It may.
    case active
    /// Its counter went back: there are two of it, and neither is taken any more.
    case quarantined
    /// Its row is not as the server wrote it: never stored, and found when the row is read.
    case altered
  }

  /// The authenticator's model, its digits in upper case.
  public var aaid: String
  /// Names the key among the model's.
  public var keyID: [UInt8]
  /// Whose it is.
  public var user: String
  /// The public key as the authenticator wrote it.
  public var publicKey: [UInt8]
  /// The registry's number of the signature algorithm.
  public var algorithm: UInt16
  /// The registry's number of the key's encoding.
  public var keyFormat: UInt16
  /// The last counter; 0 where the authenticator does not count.
  public var signCounter: UInt32
  /// How many keys the authenticator had made; 0 where it does not count.
  public var registrationCounter: UInt32
  /// The authenticator's version.
  public var authenticatorVersion: UInt16
  /// When it was registered, in seconds since 1970.
  public var created: Int64
  /// Whether it may still be used.
  public var state = State.active
  /// The device that it was registered on, as that calls itself; `nil` where it did not say.
  public var device: String?

  /// Describes a key.
  public init(
    aaid: String, keyID: [UInt8], user: String, publicKey: [UInt8], algorithm: UInt16, keyFormat: UInt16,
    signCounter: UInt32, registrationCounter: UInt32, authenticatorVersion: UInt16, created: Int64
  ) {
    (self.aaid, self.keyID, self.user, self.publicKey) = (aaid, keyID, user, publicKey)
    (self.algorithm, self.keyFormat, self.signCounter) = (algorithm, keyFormat, signCounter)
    (self.registrationCounter, self.authenticatorVersion) = (registrationCounter, authenticatorVersion)
    self.created = created
  }
}

/// Which of a user's UAF keys are meant.
public struct UAFKeySelection: Hashable, Sendable {
  /// The model; `nil` for all.
  public var aaid: String?
  /// The key of the model; `nil` for all.
  public var keyID: [UInt8]?

  /// Selects keys; a key id without a model selects none.
  public init(aaid: String? = nil, keyID: [UInt8]? = nil) { (self.aaid, self.keyID) = (aaid, keyID) }
}

/// One UAF operation, from the token or the request to its end.
public struct UAFSessionRecord: Hashable, Sendable {
  /// Where an operation stands.
  public enum State: String, Hashable, Sendable {
    /// A token was made, and nobody has redeemed it yet.
    case tokenCreated
    /// A client has the request.
    case requested
    /// The response was taken.
    case succeeded
    /// It was not, or the client could not answer.
    case failed
  }

  /// Names the operation.
  public var id: String
  /// `Reg`, `Auth` or `Dereg`.
  public var operation: String
  /// Whose it is; `nil` while that is not known.
  public var user: String?
  /// What was asked of the server, as it was asked: the context of the request; `nil` for nothing.
  public var context: String?
  /// The transaction that the response decides; `nil` for none.
  public var transaction: String?
  /// The request as it was sent; `nil` before.
  public var request: [UInt8]?
  /// SHA-256 of the token that the request is had for; `nil` for one that was asked for directly.
  public var tokenDigest: [UInt8]?
  /// Until when the token can be redeemed, in seconds since 1970.
  public var tokenExpires: Int64?
  /// When it was begun, in seconds since 1970.
  public var created: Int64
  /// Until when a response is taken, in seconds since 1970.
  public var expires: Int64
  /// How the token was sent, and to which target; `nil` for neither.
  public var dispatcher: String?
  /// The target that the token was sent to; `nil` for none.
  public var target: String?
  /// The payload that the target is sent, sealed; `nil` for none.
  public var sealedPayload: [UInt8]?
  /// Stands for the address of a stranger who asked for it; `nil` where it was asked for by somebody who is known.
  public var client: [UInt8]?
  /// Where it stands.
  public var state: State
  /// How it ended.
  public var end: UAFSessionEnd?

  /// Describes an operation.
  public init(
    id: String, operation: String, user: String? = nil, context: String? = nil, created: Int64,
    expires: Int64, state: State
  ) {
    (self.id, self.operation, self.user, self.context) = (id, operation, user, context)
    (self.created, self.expires, self.state) = (created, expires, state)
  }
}

/// How a UAF operation ended.
public struct UAFSessionEnd: Hashable, Sendable {
  /// The protocol's status.
  public var status: Int
  /// What the authenticators' module said of a failure; `nil` for nothing.
  public var asmStatus: Int?
  /// What the client said of a failure; `nil` for nothing.
  public var clientError: Int?
  /// The keys, as JSON for who asks how it stands.
  public var authenticators: String
  /// When, in seconds since 1970.
  public var time: Int64

  /// Describes an end.
  public init(
    status: Int, asmStatus: Int? = nil, clientError: Int? = nil, authenticators: String = "[]", time: Int64
  ) {
    (self.status, self.asmStatus, self.clientError) = (status, asmStatus, clientError)
    (self.authenticators, self.time) = (authenticators, time)
  }
}

/// A use of a UAF key that its signature proves: the counter is to be held against the stored one.
public struct UAFKeyUse: Hashable, Sendable {
  /// The model.
  public var aaid: String
  /// The key.
  public var keyID: [UInt8]
  /// The counter that was signed.
  public var signCounter: UInt32

  /// Describes a use.
  public init(aaid: String, keyID: [UInt8], signCounter: UInt32) {
    (self.aaid, self.keyID, self.signCounter) = (aaid, keyID, signCounter)
  }
}

/// How a UAF response ended.
public enum UAFOutcome: Hashable, Sendable {
  /// It was taken.
  case taken
  /// The operation has ended before, its time is over, or there is none.
  case over
  /// One of the new keys is registered already.
  case keyExists
  /// One of the keys is not, or no longer, registered for the user, or is in quarantine.
  case keyUnknown
  /// The counter of one did not grow: it is in quarantine from now on.
  case copied(UAFKeyUse)
  /// The transaction that goes with it has ended before.
  case transactionOver
  /// The user has as many keys as one may have.
  case tooMany
  /// The row of one of the keys is not as the server wrote it.
  case altered(UAFKeyUse)
}

/// Where UAF tokens of a user can be sent: one of the user's devices.
public struct UAFTargetRecord: Hashable, Sendable {
  /// Names the target.
  public var id: String
  /// Whose it is.
  public var user: String
  /// What the device calls itself; `nil` for nothing.
  public var device: String?
  /// What the user calls it: one of a kind for a user.
  public var name: String
  /// The way of sending that is usual for it.
  public var dispatcher: String?
  /// What the way of sending knows it by, under the server's master key; `nil` for nothing.
  public var sealedTarget: [UInt8]?
  /// The key with which the device signs its requests, X9.63.
  public var signatureKey: [UInt8]
  /// The key that is encrypted to, X9.63.
  public var encryptionKey: [UInt8]?
  /// When it was made, in seconds since 1970.
  public var created: Int64

  /// Describes a target.
  public init(
    id: String, user: String, device: String?, name: String, dispatcher: String?, sealedTarget: [UInt8]?,
    signatureKey: [UInt8], encryptionKey: [UInt8]?, created: Int64
  ) {
    (self.id, self.user, self.device, self.name) = (id, user, device, name)
    (self.dispatcher, self.sealedTarget, self.signatureKey) = (dispatcher, sealedTarget, signatureKey)
    (self.encryptionKey, self.created) = (encryptionKey, created)
  }
}

/// What a device changes of its target; `nil` leaves a member as it is.
public struct UAFTargetChange: Hashable, Sendable {
  /// Another name.
  public var name: String?
  /// Another way of sending.
  public var dispatcher: String?
  /// What that knows the device by; an empty one takes it away.
  public var sealedTarget: [UInt8]?

  /// Describes a change.
  public init(name: String? = nil, dispatcher: String? = nil, sealedTarget: [UInt8]? = nil) {
    (self.name, self.dispatcher, self.sealedTarget) = (name, dispatcher, sealedTarget)
  }
}
