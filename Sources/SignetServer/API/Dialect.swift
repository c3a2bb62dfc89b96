import SignetCrypto
import SignetHTTPServer
package import SignetProtocol
import SignetStorage

/// The protocols of the server, each with its own form of refusals.
///
/// Errors are converted to answers only here.
package enum Dialect: Hashable, Sendable {
  /// The server's own protocol: problems (RFC 9457).
  case signet
  /// OpenID Connect.
  case openID
  /// Authenticator apps of other vendors.
  case pushApps
  /// The services of UAF.
  case uaf
  /// The UAF protocol, which has its own statuses.
  case uafProtocol

  func refusals(of request: RequestDescription, _ access: Access) -> [Refusal] {
    let hasBody = request.mediaType != nil
    switch self {
    case .signet:
      var refusals: [Refusal] = [.malformed, .tooLarge, .failure, .busy]
      if hasBody { refusals += [.lengthRequired, .mediaType] }
      switch access {
      case .key: refusals += [.unauthorized, .forbidden]
      // 403 for a container whose user is not active.
      case .device: refusals += [.unauthorized, .forbidden]
      case .operatorAddress: refusals.append(.unknown)
      default: break
      }
      return refusals
    case .openID:
      return [
        .openIDRefusal, .openIDClient, .lengthRequired, .tooLarge, .openIDFailure, .openIDBusy,
      ]
    case .pushApps: return [.lengthRequired, .tooLarge, .failure, .busy]
    case .uaf, .uafProtocol:
      var refusals: [Refusal] = [.tooLarge, .uafFailure, .uafBusy]
      if self == .uaf { refusals.append(.uafMalformed) }
      if hasBody { refusals.append(.uafMediaType) }
      switch access {
      case .anybody, .operatorAddress: break
      case .uafManagerOrDevice, .uafDevice, .uafDeviceBody:
        refusals += [.uafMalformed, .uafUnauthorized, .uafUnknown]
      default: refusals.append(.uafUnauthorized)
      }
      return refusals
    }
  }

  func response(to error: any Error, _ context: ServiceContext) -> ServerResponse {
    switch self {
    case .signet, .pushApps: .problem(Self.problem(error, context.log))
    case .openID: (error as? OpenIDFailure ?? OpenIDFailure(Self.problem(error, context.log))).response
    case .uaf: UAFWebFailure(answering: error, context).response
    case .uafProtocol: UAFEndpoints.answer(to: error, context)
    }
  }

  /// Converts an error to a problem.
  ///
  /// A sender's mistake is already a ``Problem``, from the code that parsed it. Any other error is a failure of the server,
  /// or a state that its storage reports.
  package static func problem(_ error: any Error, _ log: EventLog) -> Problem {
    switch error {
    case let problem as Problem: return problem
    case StorageFailure.exists: return Problem(.exists, "Choose another id.")
    case StorageFailure.unknown:
      return Problem(.unknown, "The user or object that the request names no longer exists.")
    case StorageFailure.userNotActive(let state):
      return Problem(
        .userNotActive,
        state == .deleted
          ? "The user was deleted permanently." : "The user is \(state.rawValue); an operator can resume it.")
    case StorageFailure.deviceLocked:
      return Problem(.deviceLocked, "The device is locked; an operator can unlock it.")
    case StorageFailure.containerLocked:
      return Problem(
        .containerLocked, "The container is locked or restricted; an operator can unlock it.")
    case StorageFailure.containerNotInUse: return DeviceAuthentication.unknown
    case StorageFailure.unauthorized: return UAFAuthorizations.refused
    case StorageFailure.altered(row: let id, of: ContainerRecord.table):
      log.sampledError(Self.event(of: error), ["cause": "\(error)"])
      return Problem(alteredContainer: id)
    case StorageFailure.busy, StorageFailure.closed: return Problem(.busy, "Try again in a moment.")
    case StorageFailure.unreachable:
      log.sampledError(Self.event(of: error), ["cause": "\(error)"])
      return Problem(.busy, "Try again in a moment.")
    case StorageFailure.readOnly, StorageFailure.full:
      log.sampledError(Self.event(of: error), ["cause": "\(error)"])
      return Problem(.busy, "Nothing was changed; try again later.")
    default:
      log.sampledError(Self.event(of: error), ["cause": "\(error)"])
      return Problem(.serverFailure, "See the server's log.")
    }
  }

  /// Returns the name of a server failure in the log.
  private static func event(of failure: any Error) -> String {
    switch failure {
    case is StorageFailure: "storage.failed"
    case is CryptoFailure: "crypto.failed"
    case is WireFailure: "message.failed"
    default: "request.failed"
    }
  }
}

extension Problem {
  /// Creates the problem for a container whose row was altered.
  ///
  /// The operator must revoke it.
  init(alteredContainer id: some CustomStringConvertible) {
    self.init(
      .containerAltered,
      "Its database row was not written by this server. An operator must revoke it ('signet-server container "
        + "revoke \(id)'); then activate the device again.")
  }
}
