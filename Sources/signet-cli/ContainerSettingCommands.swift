import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let rename = Command(
    "rename", "Give a container another name on this device",
    description: "No network is needed. Accounts that were imported are renamed by signet account rename.",
    options: [ContainerChoice.option],
    arguments: [Argument("name", "The new name of the container")]
  ) { arguments in
    let device = try DeviceOptions(arguments).device(createIfMissing: false)
    let container = try await ContainerChoice.container(arguments, of: device)
    let renamed = try await device.rename(container, to: arguments.string("name"))
    if arguments.isSet("json") {
      arguments.output.print(json: JSONValue.object(renamed.json).text)
    } else {
      arguments.output.print("\(renamed.fullName) is called \(renamed.name).")
    }
    return .success
  }

  static let trust = Command(
    "trust", "Trust other certificates of a container's server",
    description: """
      A container stores the certificates that it was activated with. If the certificates of the server change, name \
      the new ones here: the authority's, or none for those that the system trusts. No network is needed; signatures \
      of the server are verified as before.
      """,
    options: [
      ContainerChoice.option,
      .value(
        "pin", "Also pin this key, as signet-server init prints it; without it, no key is pinned",
        named: "pin", isRepeatable: true),
    ],
    arguments: [
      Argument(
        "file", "The certificates, PEM; without it, those that the system trusts", arity: .optional,
        completion: .file)
    ]
  ) { arguments in
    let options = try DeviceOptions(arguments)
    let device = try options.device(createIfMissing: false)
    let container = try await ContainerChoice.container(arguments, of: device)
    let file = arguments.optionalString("file")
    guard file != nil || !arguments.isSet("ca") else {
      throw UsageFailure.refused(
        "--ca is for one command; name the file that is to be trusted: signet trust FILE")
    }
    let encodedPins = arguments.strings("pin")
    let pins = try encodedPins.map { pin in
      let refusal = CommandFailure(
        .dataError, "a pin is the base64url of 32 bytes, as signet-server init prints it")
      do {
        let bytes = try Base64URL.decode(pin)
        guard bytes.count == 32 else { throw refusal }
        return bytes
      } catch { throw refusal }
    }
    try await device.setTrust(
      certificateAuthoritiesPEM: file.map { try DeviceOptions.certificates(inFile: $0) }, pins: pins,
      of: container)
    if arguments.isSet("json") {
      arguments.output.print(json: JSONValue.object(container.json).text)
    } else {
      let certificates: TerminalText = file.map { "those of \($0)" } ?? "those that the system trusts"
      arguments.output.print("Certificates for \(container.fullName): \(certificates).")
      arguments.output.print(
        encodedPins.isEmpty
          ? "No pin: any key of these authorities is accepted."
          : "Pins: \(ours: encodedPins.joined(separator: ", "))")
    }
    return .success
  }
}
