import Signet
import SignetTerminal
import SignetUAFClient

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The options of the `uaf` commands, and the operations that they describe.
struct UAFCommandOptions {
  /// The default facet ID of this program for UAF servers.
  static let standardFacet = "linux:app-id:signet"

  static let server: [Option] = [
    .value(
      "uaf-server",
      "The base URL of the UAF server, such as https://id.example.com/nevisfido; $SIGNET_UAF_SERVER where it is not given",
      named: "url"),
    facet,
    .value(
      "header", "Send this field with every request, such as a correlation id", named: "name:value",
      isRepeatable: true),
    .value(
      "answer-time", "Time limit for the answer to a question", named: "duration", default: "4m"),
  ]

  static let facet = Option.value(
    "facet", "The facet id of this program, which UAF servers have to trust", named: "id",
    default: standardFacet
  )

  /// The option of commands that may need authorization.
  static let token = Option.value(
    "token-fd", "Read the token that allows this from this file descriptor", named: "n")

  static let authenticator = Option.value(
    "authenticator", "Use this authenticator instead of asking: its kind, or its AAID", short: "a",
    named: "kind",
    completion: .words(UAFAuthenticator.Kind.allCases.map(\.rawValue)))

  static let picture = Option.value(
    "picture", "Write a picture that is to be confirmed to this file, and go on", named: "file",
    completion: .file)

  let options: DeviceOptions
  let arguments: Arguments

  init(_ arguments: Arguments, mayBeAllowed: Bool = false) throws {
    self.arguments = arguments
    options = try DeviceOptions(arguments, secretsFrom: mayBeAllowed ? ["token-fd"] : [])
  }

  /// Creates the operations with a server.
  func operations(_ person: TerminalUAFInteraction, on device: Device) throws -> UAFOperations {
    UAFOperations(
      client: client(on: device), configuration: try configuration, interaction: person,
      headers: try headers)
  }

  /// Creates the operations of commands that use no server.
  func localOperations(_ person: TerminalUAFInteraction, on device: Device) throws -> UAFOperations {
    UAFOperations(
      client: client(on: device), configuration: try UAFConfiguration(host: "localhost"), interaction: person)
  }

  private func client(on device: Device) -> UAFClient {
    UAFClient(device: device, facetID: arguments.string("facet"))
  }

  private var configuration: UAFConfiguration {
    get throws {
      let environment = ProcessInfo.processInfo.environment["SIGNET_UAF_SERVER"]
      guard let url = arguments.optionalString("uaf-server") ?? environment, !url.isEmpty else {
        throw CommandFailure(.usage, "name the UAF server: --uaf-server URL, or SIGNET_UAF_SERVER")
      }
      var configuration: UAFConfiguration
      do throws(SignetError) { configuration = try UAFConfiguration(baseURL: url) } catch {
        throw CommandFailure(.usage, TerminalText(error.description))
      }
      if arguments.isSet("timeout") {
        configuration.networkTimeoutSeconds = try arguments.seconds("timeout", in: 0...86_400)
      }
      configuration.interactionTimeoutSeconds = try arguments.seconds("answer-time", in: 1...86_400)
      return configuration
    }
  }

  /// Rejects a server other than the one where this device has registered the user: the operation would not use it.
  func checkServer(of username: String, _ operations: UAFOperations) async throws {
    guard arguments.isSet("uaf-server") else { return }
    let server = try configuration.baseURL
    let servers = try await operations.localData.accounts().filter { $0.username == username }.map(\.server)
    guard let first = servers.first, !servers.contains(server) else { return }
    throw CommandFailure(
      .usage,
      "\(username) is registered at \(first), and not at \(server); leave out --uaf-server, or name that one")
  }

  private var headers: [(name: String, value: String)] {
    get throws {
      try arguments.strings("header").map { text in
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
          throw CommandFailure(.usage, "--header must be NAME:VALUE")
        }
        let value = text[text.index(after: colon)...].drop { $0 == " " }
        return (String(text[..<colon]), String(value))
      }
    }
  }

  /// Reads the authorization: the token on a descriptor; `nil` if none was named.
  func authorization() async throws -> UAFAuthorization? {
    guard arguments.isSet("token-fd") else { return nil }
    let token = try await arguments.secretInput("token-fd").read("Token: ") { bytes in
      SecretBytes(copying: bytes).withTemporaryArray { String(decoding: $0, as: UTF8.self) }
    }
    return .jwt(token)
  }

  /// Runs an operation; an input error takes precedence over the operation's own failure.
  func interacting<Value>(
    _ interaction: TerminalUAFInteraction, _ operation: () async throws -> Value
  ) async throws -> Value {
    do { return try await operation() } catch { throw interaction.failure ?? error }
  }
}

extension UAFAuthenticator {
  /// The name for users.
  var title: String { kind.title }
}

extension UAFAuthenticator.Kind {
  /// The name for users.
  var title: String {
    switch self {
    case .pin: "PIN"
    case .password: "password"
    case .fingerprint: "fingerprint"
    case .face: "face"
    case .devicePasscode: "passcode of the device"
    }
  }
}
