import SignetUAF

/// Why a registration or a deregistration failed, in-band or out of band.
@nonexhaustive public enum UAFOperationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The client of the protocol ended it; the detail is for developers.
  case fido(UAFClientError, detail: String? = nil)
  /// The server could not be reached, or refused.
  case network(UAFNetworkProblem)
  /// The user of this name is registered at another server.
  case userAlreadyRegisteredInAnotherServer(String)
  /// The user who was chosen is not registered at this server.
  case userNotRegisteredInServer(String)
  /// The clock of this device, or of the server, is wrong.
  case clockSkewTooBig(server: String)
  /// A parameter is of no use.
  case configuration(UAFConfigurationFailure)
  /// What this device keeps could not be read or written.
  case device(SignetFailure)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .fido(let code, let detail): detail ?? code.meaning
    case .network(let problem): problem.description
    case .userAlreadyRegisteredInAnotherServer(let server): "a user of this name is registered at \(server)"
    case .userNotRegisteredInServer(let server): "the user is not registered at \(server)"
    case .clockSkewTooBig: "the clock of this device differs too much from the server's; set it"
    case .configuration(let failure): failure.description
    case .device(let failure): failure.description
    }
  }
}

/// Why an authentication failed; the login that it belonged to can go on with another method.
public struct UAFAuthenticationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// What went wrong.
  public let reason: UAFOperationFailure
  /// What keeps the login: cookies that were given or have come since, or the token that was given.
  public let session: UAFAuthorization?

  /// What happened and what to do.
  public var description: String { reason.description }
}

/// Why a payload that came by another way could not be read.
@nonexhaustive public enum UAFPayloadFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is encrypted for another device, or for a key that is gone.
  case decryption
  /// It is none.
  case malformed(String)
  /// What this device keeps could not be read.
  case device(SignetFailure)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .decryption: "this is encrypted for another device, or for a key that this one no longer has"
    case .malformed(let reason): "this is no request to this device: \(reason)"
    case .device(let failure): failure.description
    }
  }
}

/// Why the token of a payload could not be redeemed.
@nonexhaustive public enum UAFOutOfBandFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The server could not be reached, or refused.
  case network(UAFNetworkProblem)
  /// The token is too old.
  case tokenExpired(server: String)
  /// The token was redeemed before.
  case tokenAlreadyRedeemed(server: String)
  /// The payload leads to a server that this device does not go to.
  case serverNotTrusted(String)
  /// The server gives out another kind of operation than the payload says.
  case fido(UAFClientError)
  /// What this device keeps could not be read.
  case device(SignetFailure)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .network(let problem): problem.description
    case .tokenExpired: "this request is too old; ask for a new one"
    case .tokenAlreadyRedeemed: "this request was taken before; ask for a new one"
    case .serverNotTrusted(let server):
      "this leads to \(server), where this device has no account; name that server if you trust it"
    case .fido(let code): code.meaning
    case .device(let failure): failure.description
    }
  }
}

/// Why a server could not be asked what waits, or what it knows of this device.
@nonexhaustive public enum UAFDeviceServiceFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The clock of this device, or of the server, is wrong.
  case clockSkewTooBig(server: String)
  /// The server does not let this device ask that.
  case forbidden(server: String)
  /// The server could not be reached, or refused.
  case network(UAFNetworkProblem)
  /// The server has no such service.
  case operationNotSupportedByBackend(server: String)
  /// A user has another device of this name, so the server does not take this one.
  case nameAlreadyExists(String, server: String)
  /// What waits is encrypted for another key, or is none.
  case payload(UAFPayloadFailure, server: String)
  /// What this device keeps could not be read, or its key did not sign.
  case device(SignetFailure)

  /// The server that was asked; `nil` where none was.
  public var server: String? {
    switch self {
    case .clockSkewTooBig(let server), .forbidden(let server), .operationNotSupportedByBackend(let server):
      server
    case .payload(_, let server), .nameAlreadyExists(_, let server): server
    case .network(let problem): problem.server
    case .device: nil
    }
  }

  fileprivate static let nameTaken = "the user has another device of this name; choose another"

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .clockSkewTooBig: "the clock of this device differs too much from the server's; set it"
    case .forbidden: "the server does not let this device do that"
    case .network(let problem): problem.description
    case .operationNotSupportedByBackend: "the server does not offer this"
    case .nameAlreadyExists: Self.nameTaken
    case .payload(let failure, _): failure.description
    case .device(let failure): failure.description
    }
  }
}

/// Why what servers know of this device could not be changed.
@nonexhaustive
public enum UAFDeviceInformationChangeFailure: Error, Hashable, Sendable,
  CustomStringConvertible
{
  /// A user has another device of this name.
  case nameAlreadyExists(String)
  /// Nothing is registered on this device, or the server does not know it.
  case notFound
  /// The device's key did not sign.
  case signing(SignetFailure)
  /// The clock of this device, or of the server, is wrong.
  case clockSkewTooBig(server: String)
  /// The server does not let this device change that.
  case forbidden(server: String)
  /// The server has no such service.
  case operationNotSupportedByBackend(server: String)
  /// The server could not be reached, or refused.
  case network(UAFNetworkProblem)
  /// What this device keeps could not be read or written.
  case device(SignetFailure)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .nameAlreadyExists: UAFDeviceServiceFailure.nameTaken
    case .notFound: "nothing is registered on this device, or the server does not know it any more"
    case .signing(let failure): "the device's key did not sign: \(failure)"
    case .clockSkewTooBig: "the clock of this device differs too much from the server's; set it"
    case .forbidden: "the server does not let this device do that"
    case .operationNotSupportedByBackend: "the server does not offer this"
    case .network(let problem): problem.description
    case .device(let failure): failure.description
    }
  }
}

/// Why a PIN or a password was not changed.
@nonexhaustive public enum UAFCredentialChangeFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// Too many wrong tries; it stays locked.
  case locked
  /// The user has none.
  case notEnrolled
  /// The person does not want to go on.
  case userCancelled
  /// The person did not answer in time.
  case userNotResponsive
  /// What this device keeps could not be read or written.
  case device(SignetFailure)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .locked: UAFClientError.userLockout.meaning
    case .notEnrolled: "there is nothing to change for this user on this device"
    case .userCancelled: UAFClientError.userCancelled.meaning
    case .userNotResponsive: UAFClientError.userNotResponsive.meaning
    case .device(let failure): failure.description
    }
  }
}

/// Why an authenticator was not deleted from this device.
@nonexhaustive public enum UAFDeletionFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// This is no authenticator of this device.
  case invalidAAID(String)
  /// What this device keeps could not be read or written.
  case device(SignetFailure)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .invalidAAID: "this device has no authenticator of this name"
    case .device(let failure): failure.description
    }
  }
}
