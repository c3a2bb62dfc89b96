public import Signet
import SignetUAF

extension SignetError {
  /// The error code of the FIDO UAF Application API; `nil` for an error that is not the UAF client's, or has no such code.
  public var uafClientError: UAFClientError? {
    guard case .uaf(let cause) = self else { return nil }
    if case .ended(let clientError) = cause.reason { return UAFClientError(rawValue: clientError) }
    return (cause.failure as? UAFFailure)?.clientError
  }

  /// The status code of the ASM if a call of ``UAFClient`` failed in it; otherwise `nil`.
  ///
  /// ``UAFOperations`` reports it to the server itself.
  public var asmStatusCode: UInt16? {
    guard case .uaf(let cause) = self else { return nil }
    return (cause.failure as? UAFFailure)?.asmStatusCode
  }

  /// The failed exchange with the server, with its HTTP and UAF status; `nil` if the error has another cause.
  public var uafNetworkProblem: UAFNetworkProblem? {
    guard case .uaf(let cause) = self else { return nil }
    switch cause.failure as any Error {
    case UAFOperationFailure.network(let problem), UAFDeviceInformationChangeFailure.network(let problem),
      UAFOutOfBandFailure.network(let problem):
      return problem
    default: return nil
    }
  }
}

// A failure of the device is the error itself; every other one is the cause of `uaf`.

extension UAFFailure {
  /// The error of a public operation that fails so.
  package var signetError: SignetError {
    switch self {
    case .protocol(let code, _): .uaf(UAFCause(.ended(clientError: code.rawValue), self))
    case .wrongSecret: .uaf(UAFCause(.wrongCredential, self))
    case .coolingDown: .uaf(UAFCause(.coolingDown, self))
    case .unusableSecret: .uaf(UAFCause(.credentialRefused, self))
    case .notRecognised, .wrongPasscode: .uaf(UAFCause(.notRecognised, self))
    case .device(let error): error
    }
  }
}

extension UAFOperationFailure {
  /// The error of a public operation that fails so.
  package var signetError: SignetError {
    switch self {
    case .fido(let code, _): .uaf(UAFCause(.ended(clientError: code.rawValue), self))
    case .network: .uaf(UAFCause(.server, self))
    case .userAlreadyRegisteredInAnotherServer: .uaf(UAFCause(.registeredAtAnotherServer, self))
    case .userNotRegisteredInServer: .uaf(UAFCause(.userNotRegistered, self))
    case .noSuchAuthenticator: .uaf(UAFCause(.noSuchAuthenticator, self))
    case .clockSkewTooBig: .uaf(UAFCause(.clockSkew, self))
    case .configuration: .uaf(UAFCause(.configuration, self))
    case .device(let error): error
    }
  }
}

extension UAFDeviceInformationChangeFailure {
  /// The error of a public operation that fails so.
  package var signetError: SignetError {
    switch self {
    case .nameAlreadyExists: .uaf(UAFCause(.deviceNameTaken, self))
    case .notFound: .uaf(UAFCause(.deviceNotRegistered, self))
    case .clockSkewTooBig: .uaf(UAFCause(.clockSkew, self))
    case .forbidden: .uaf(UAFCause(.forbidden, self))
    case .operationNotSupportedByBackend: .uaf(UAFCause(.serviceNotOffered, self))
    case .network: .uaf(UAFCause(.server, self))
    case .device(let error): error
    }
  }
}

extension UAFOutOfBandFailure {
  /// The error of a public operation that fails so.
  package var signetError: SignetError {
    switch self {
    case .network: .uaf(UAFCause(.server, self))
    case .tokenExpired: .uaf(UAFCause(.tokenExpired, self))
    case .tokenAlreadyRedeemed: .uaf(UAFCause(.tokenRedeemed, self))
    case .serverNotTrusted: .uaf(UAFCause(.serverNotTrusted, self))
    case .fido(let code): .uaf(UAFCause(.ended(clientError: code.rawValue), self))
    case .device(let error): error
    }
  }
}

extension UAFPayloadFailure {
  /// The error of a public operation that fails so.
  package var signetError: SignetError {
    switch self {
    case .decryption: .uaf(UAFCause(.payloadNotForThisDevice, self))
    case .malformed: .uaf(UAFCause(.payloadMalformed, self))
    case .device(let error): error
    }
  }
}

extension UAFConfigurationFailure {
  /// The error of a public operation that fails so.
  package var signetError: SignetError { .uaf(UAFCause(.configuration, self)) }
}
