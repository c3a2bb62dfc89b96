import Signet
import SignetIntegrity
import SignetJSON
import SignetTerminal

extension Command {
  static let doctor = Command(
    "doctor", "Check this device for weaknesses and faults, and show what to do",
    description: """
      Checks the program itself, the data folder, the keystore, the clock, the memory, the fingerprint reader, the \
      check of the passcode and each container. No container is opened, no password is asked for and no attempt is \
      made. No server is contacted: signet pending does that, and shows which one cannot be reached, or is not \
      trusted.

      The exit status is 0 if nothing needs doing on this device and 1 if something does. Notes are for information.
      """
  ) { arguments in
    let integrity = try await ProgramIntegrity.shared().evaluate()
    let diagnostics =
      Doctor.program(integrity) + Doctor.starts
      + (await Doctor(options: try DeviceOptions(arguments)).diagnostics())
    let needsDoing = diagnostics.contains { $0.weight == .problem }
    if arguments.isSet("json") {
      let object: JSONObject = [
        "healthy": .bool(!needsDoing), "flavour": .string(integrity.flavour.rawValue),
        "integrity": .object(integrity.json), "findings": .array(diagnostics.map { .object($0.json) }),
      ]
      arguments.output.print(json: JSONValue.object(object).text)
    } else {
      for diagnostic in diagnostics { show(diagnostic, arguments.output) }
      arguments.output.print(needsDoing ? "Something needs doing." : "Nothing needs doing on this device.")
    }
    return needsDoing ? .failure : .success
  }

  private static func show(_ diagnostic: Diagnostic, _ output: Terminal) {
    let label =
      switch diagnostic.weight {
      case .fine: output.styled("ok     ", .green)
      case .note: output.styled("note   ", .yellow)
      case .problem: output.styled("PROBLEM", .bold, .red)
      }
    output.print("\(label) \(diagnostic.subject.limited(to: 200)): \(diagnostic.text.limited(to: 1000))")
    if let advice = diagnostic.advice { output.print("        -> \(advice.limited(to: 1000))") }
  }
}
