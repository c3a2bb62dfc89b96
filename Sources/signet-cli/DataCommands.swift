import Signet
import SignetAgent
import SignetJSON
import SignetSystem
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Command {
  static let data = Command(
    "data", "Encrypt and decrypt data of apps",
    description: """
      Encrypted data can be decrypted only by this container, with the same label and group: if the container is \
      deleted or replaced, the data is lost.

      By default the command asks for the password and locks again when it is done. With --shared it uses the session \
      that the agent holds, which must be unlocked, and in whose group this program must be.
      """,
    options: [
      ContainerChoice.option,
      .value("label", "The label of the data; any text of up to 256 bytes", isRequired: true),
      AgentOptions.group,
      .flag("shared", "Use the agent's session"),
      AgentOptions.socket, AgentOptions.program,
    ],
    commands: [
      transformation("encrypt", "Encrypt a file") { session, bytes, label in
        try await session.encrypt(bytes, label: label)
      },
      transformation("decrypt", "Decrypt a file") { session, bytes, label in
        try await session.decrypt(bytes, label: label)
      },
    ])

  private static func transformation(
    _ name: String, _ summary: String,
    _ transform: @escaping @Sendable (any SharedSession, [UInt8], String) async throws -> [UInt8]
  ) -> Command {
    Command(
      name, summary,
      arguments: [
        Argument("input", "The file to read", completion: .file),
        Argument("output", "The file to write, mode 0600; it is replaced as a whole", completion: .file),
      ]
    ) { arguments in
      let input = arguments.string("input")
      let bytes = try InputFile.bytes(of: input, limit: 1 << 30)
      let session = try await session(arguments)
      let result = try await transform(session, bytes, arguments.string("label"))
      let output = arguments.string("output")
      do throws(FileFailure) { try PrivateFile.place(result.span.bytes, at: output, .replacing) } catch {
        throw CommandFailure(.cannotCreate, "\(output) cannot be written: \(ours: systemMessage(error.code))")
      }
      // Without --json, success prints nothing.
      if arguments.isSet("json") {
        let object: JSONObject = ["output": .string(output), "byteCount": .integer(Int64(result.count))]
        arguments.output.print(json: JSONValue.object(object).text)
      }
      return .success
    }
  }

  private static func session(_ arguments: Arguments) async throws -> any SharedSession {
    #if os(Linux)
      if arguments.isSet("shared") { return try AgentOptions.session(arguments) }
    #endif
    let group = try AgentOptions.group(arguments)
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    let container = try await ContainerChoice.container(arguments, of: device)
    let session = Session(for: container, on: device, group: group)
    try await options.authenticated(container, on: device, to: "Unlock the data of apps") {
      try await session.unlock(by: $0)
    }
    return session
  }
}
