import Signet
import SignetTerminal
import SignetUAFClient

/// Returns the exit code of a failure of the UAF client; `nil` for another failure.
func uafExitCode(of error: any Error) -> ExitCode? {
  switch error {
  case let failure as UAFOperationFailure: exitCode(of: failure)
  case let failure as UAFPayloadFailure:
    if case .device(let failure) = failure { exitCode(of: failure as any Error) } else { .dataError }
  case let failure as UAFOutOfBandFailure: exitCode(of: failure)
  case let failure as UAFDeviceServiceFailure: exitCode(of: failure)
  case let failure as UAFDeviceInformationChangeFailure: exitCode(of: failure)
  case is UAFConfigurationFailure: .usage
  default: nil
  }
}

private func exitCode(of failure: UAFOperationFailure) -> ExitCode {
  switch failure {
  case .fido(let code, _): exitCode(of: code)
  case .network(let problem): exitCode(of: problem)
  case .clockSkewTooBig: .unavailable
  case .configuration: .usage
  case .device(let failure): exitCode(of: failure as any Error)
  default: .dataError
  }
}

private func exitCode(of code: UAFClientError) -> ExitCode {
  switch code {
  case .userCancelled: .interrupted
  case .userLockout, .authenticatorAccessDenied, .keyDisappearedPermanently: .permissionDenied
  case .userNotResponsive: .temporaryFailure
  case .noSuitableAuthenticator, .userNotEnrolled, .invalidTransactionContent: .dataError
  case .untrustedFacetID, .protocolError, .unsupportedVersion: .protocolError
  case .insecureTransport: .usage
  default: .software
  }
}

private func exitCode(of problem: UAFNetworkProblem) -> ExitCode {
  if case .transport(let failure) = problem.cause { return exitCode(of: failure) }
  if let status = problem.status, (500...599).contains(status) { return .temporaryFailure }
  return problem.isNotAllowed ? .permissionDenied : .protocolError
}

private func exitCode(of failure: UAFOutOfBandFailure) -> ExitCode {
  switch failure {
  case .network(let problem): exitCode(of: problem)
  case .tokenExpired, .tokenAlreadyRedeemed: .failure
  case .fido(let code): exitCode(of: code)
  case .device(let failure): exitCode(of: failure as any Error)
  default: .dataError
  }
}

private func exitCode(of failure: UAFDeviceServiceFailure) -> ExitCode {
  switch failure {
  case .clockSkewTooBig: .unavailable
  case .forbidden: .permissionDenied
  case .nameAlreadyExists: .dataError
  case .network(let problem): exitCode(of: problem)
  case .device(let failure): exitCode(of: failure as any Error)
  default: .protocolError
  }
}

private func exitCode(of failure: UAFDeviceInformationChangeFailure) -> ExitCode {
  switch failure {
  case .nameAlreadyExists, .notFound: .dataError
  case .clockSkewTooBig: .unavailable
  case .forbidden: .permissionDenied
  case .operationNotSupportedByBackend: .protocolError
  case .network(let problem): exitCode(of: problem)
  case .device(let failure): exitCode(of: failure as any Error)
  }
}
