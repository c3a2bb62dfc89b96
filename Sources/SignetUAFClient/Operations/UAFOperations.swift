import SignetHTTPClient
import SignetJSON
import SignetUAF

/// The operations of an app with a UAF server: registration, authentication, deregistration and device information.
///
/// Each operation is one call that returns or throws once. If its task is cancelled, it ends as cancelled by the user.
///
/// ```swift
/// let client = UAFClient(device: device, facetID: "linux:app-id:org.example.bank")
/// let uaf = UAFOperations(
///   client: client, configuration: try UAFConfiguration(host: "id.example.org"), interaction: Screens())
/// try await uaf.register("alice", device: UAFNewDevice(name: "Alice's laptop"), authorization: .jwt(token))
/// let authorization = try await uaf.authenticate("alice")
/// ```
public struct UAFOperations: Sendable {
  /// The UAF client with the keys.
  public let client: UAFClient
  /// The address of the server and the time limits.
  public let configuration: UAFConfiguration
  let interaction: any UAFInteraction
  let headers: [(name: String, value: String)]
  let clock: any Clock<Duration>

  /// Creates the operations.
  ///
  /// - Parameters:
  ///   - client: The UAF client with the keys.
  ///   - configuration: The address of the server and the time limits.
  ///   - interaction: The app's user interface.
  ///   - headers: Additional headers of every request, such as a correlation ID; a name may occur more than once.
  ///   - clock: The clock for time limits and waits.
  public init(
    client: UAFClient, configuration: UAFConfiguration, interaction: any UAFInteraction,
    headers: [(name: String, value: String)] = [], clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.client = client
    self.configuration = configuration
    self.interaction = interaction
    self.headers = headers
    self.clock = clock
  }

  var device: Device { client.device }

  package var store: UAFDeviceStore { UAFDeviceStore(device: device) }

  var conversation: UAFConversation {
    UAFConversation(
      interaction: interaction, limit: .seconds(configuration.interactionTimeoutSeconds), clock: clock,
      passwordChecks: device.passwordChecks)
  }

  /// Returns the configured server, or the server at `url` with the same paths.
  ///
  /// - Throws: ``UAFOperationFailure``.
  func server(at url: String? = nil) throws(UAFOperationFailure) -> UAFServer {
    guard let url else { return try server(configuration) }
    let other: UAFConfiguration
    do throws(UAFConfigurationFailure) { other = try configuration.at(server: url) } catch {
      throw .configuration(error)
    }
    return try server(other)
  }

  /// Returns the server that an account names.
  func server(of account: UAFAccount) throws(UAFOperationFailure) -> UAFServer {
    account.server == configuration.baseURL ? try server(configuration) : try server(at: account.server)
  }

  func server(_ configuration: UAFConfiguration) throws(UAFOperationFailure) -> UAFServer {
    var connection = device.connection
    connection.timeoutSeconds = configuration.networkTimeoutSeconds
    do throws(SignetError) {
      return UAFServer(
        configuration: configuration, transport: try device.transport(connection),
        headers: headers.map { ($0.name, $0.value) })
    } catch { throw .device(error) }
  }

  /// Returns the keys of a user on this device, oldest first; with `server`, only those for that server.
  func keys(of username: String, at server: String? = nil) async throws(SignetError) -> [UAFKey] {
    try await client.keys().filter { $0.isOf(username) && (server == nil || $0.isFor(server)) }
  }
}

extension UAFOperationFailure {
  /// Converts whatever an operation threw; the only place that does so.
  init(thrown error: any Error) {
    switch error {
    case let failure as UAFOperationFailure: self = failure
    case let failure as UAFFailure: self.init(failure)
    case let problem as UAFNetworkProblem: self.init(problem)
    case let code as UAFClientError: self = .fido(code)
    case let error as SignetError: self = .device(error)
    default: self = .fido(.unknown, detail: "\(error)")
    }
  }

  /// Converts a failed exchange to a failure of an operation.
  init(_ problem: UAFNetworkProblem) {
    switch problem.cause {
    case .transport(.cancelled): self = .fido(.userCancelled)
    case .transport(.insecureURL): self = .fido(.insecureTransport)
    default:
      self = problem.code == "clockSkewTooBig" ? .clockSkewTooBig(server: problem.server) : .network(problem)
    }
  }

  /// Converts a failure of the UAF client to a failure of an operation.
  init(_ failure: UAFFailure) {
    switch failure {
    case .device(let failure): self = .device(failure)
    case .protocol(let code, let detail): self = .fido(code, detail: detail)
    default: self = .fido(failure.clientError)
    }
  }

  /// The FIDO error code of the failure; `unknown` if it has another cause.
  public var code: UAFClientError { if case .fido(let code, _) = self { code } else { .unknown } }
}
