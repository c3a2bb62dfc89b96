import SignetJSON
import SignetTransport
import SignetUAF

/// What an app does with a UAF server: registrations, authentications, and what belongs to them.
///
/// Each operation is one call that succeeds or throws, once. Cancelling its task ends it as cancelled by the user.
///
/// ```swift
/// let client = UAFClient(device: device, facetID: "linux:app-id:org.example.bank")
/// let uaf = UAFOperations(
///   client: client, configuration: try UAFConfiguration(host: "id.example.org"), interaction: Screens())
/// try await uaf.register("alice", device: UAFNewDevice(name: "Alice's laptop"), authorization: .jwt(token))
/// let authorization = try await uaf.authenticate("alice")
/// ```
public struct UAFOperations: Sendable {
  /// Signs and verifies.
  public let client: UAFClient
  /// Where the server is, and how long things may take.
  public let configuration: UAFConfiguration
  let interaction: any UAFInteraction
  let headers: [(name: String, value: String)]
  let clock: any Clock<Duration>

  /// Prepares operations.
  ///
  /// - Parameters:
  ///   - client: Signs and verifies.
  ///   - configuration: Where the server is.
  ///   - interaction: Asks the person.
  ///   - headers: What every request carries in addition, such as an id for correlation; names may come again.
  ///   - clock: Measures time limits and waits.
  public init(
    client: UAFClient, configuration: UAFConfiguration, interaction: any UAFInteraction,
    headers: [(name: String, value: String)] = [], clock: any Clock<Duration> = ContinuousClock()
  ) {
    (self.client, self.configuration, self.interaction) = (client, configuration, interaction)
    (self.headers, self.clock) = (headers, clock)
  }

  var device: Device { client.device }

  package var store: UAFDeviceStore { UAFDeviceStore(device: device) }

  var conversation: UAFConversation {
    UAFConversation(
      interaction: interaction, limit: .seconds(configuration.interactionTimeoutSeconds), clock: clock)
  }

  /// The configured server, or another with the same paths.
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

  /// A server that an account names.
  func server(of account: UAFAccount) throws(UAFOperationFailure) -> UAFServer {
    account.server == configuration.baseURL ? try server(configuration) : try server(at: account.server)
  }

  func server(_ configuration: UAFConfiguration) throws(UAFOperationFailure) -> UAFServer {
    var connection = device.connection
    connection.timeoutSeconds = configuration.networkTimeoutSeconds
    do throws(SignetFailure) {
      return UAFServer(
        configuration: configuration, transport: try device.transport(connection),
        headers: headers.map { ($0.name, $0.value) })
    } catch { throw .device(error) }
  }

  /// Has what reading this device throws as a failure of an operation.
  func kept<Value>(
    _ call: @autoclosure () async throws(SignetFailure) -> Value
  ) async throws(UAFOperationFailure) -> Value {
    do { return try await call() } catch { throw .device(error) }
  }

  /// The keys of a user on this device, oldest first; those for one server where it is named.
  func keys(of username: String, at server: String? = nil) async throws(SignetFailure) -> [UAFKey] {
    try await client.ownKeys().filter { $0.isOf(username) && (server == nil || $0.isFor(server)) }
  }
}

extension UAFOperationFailure {
  /// What an exchange came to.
  init(_ problem: UAFNetworkProblem) {
    switch problem.cause {
    case .transport(.cancelled): self = .fido(.userCancelled)
    case .transport(.insecureURL): self = .fido(.insecureTransport)
    default:
      self = problem.code == "clockSkewTooBig" ? .clockSkewTooBig(server: problem.server) : .network(problem)
    }
  }

  /// What the client of the protocol came to.
  init(_ failure: UAFFailure) {
    switch failure {
    case .device(let failure): self = .device(failure)
    case .protocol(let code, let detail): self = .fido(code, detail: detail)
    default: self = .fido(failure.clientError)
    }
  }

  /// The FIDO code of what ended the operation; `unknown` where it was something else.
  public var code: UAFClientError { if case .fido(let code, _) = self { code } else { .unknown } }
}
