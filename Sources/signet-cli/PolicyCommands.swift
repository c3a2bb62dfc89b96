import Signet
import SignetJSON
import SignetPolicy
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Command {
  static let policy = Command(
    "policy", "Explain policies, and check them for errors",
    commands: [
      Command(
        "explain", "Explain what a container requires",
        description: """
          Keys with their own protection are listed after the container. If no hardware protects the keys, a copy of \
          the data folder works on any machine; the command says so.
          """,
        options: [ContainerChoice.option]
      ) { arguments in
        let device = try DeviceOptions(arguments).device(createIfMissing: false)
        let container = try await ContainerChoice.container(arguments, of: device, includingUnconfirmed: true)
        await explain(container, on: device, arguments)
        return .success
      },
      Command(
        "lint", "Check a policy for errors and doubtful rules, and show which profiles it does not meet",
        description: """
          The policy is a policy string (UP=0;NUM=6;…), the JSON form of one, the name of a profile, or a file with one of the \
          first two. Rules that no password satisfies together are errors. Profiles are named sets of requirements: \(PolicyProfile.names).
          """,
        options: [
          .value(
            "profile", "Check this profile only, and fail unless it is met",
            completion: .choices(PolicyProfile.allCases.map(\.rawValue)))
        ],
        arguments: [
          Argument(
            "policy",
            "A policy, a profile, a file with a policy (./psd2 for one named so), or - for standard input",
            completion: .file)
        ],
        examples: [
          .init("echo 'MINLEN=6;MAXLEN=6;NUM=8' | signet policy lint -", "Find the two rules that clash"),
          .init("signet policy lint 'NUM=6;MINLEN=6;MAXLEN=8' --profile psd2", "Check one profile"),
        ]
      ) { arguments in
        let review = try review(arguments.string("policy"))
        let profile = arguments.optionalString("profile").flatMap(PolicyProfile.init(rawValue:))
        report(review, profile, arguments)
        let isMet = profile.map { review.violations(of: $0).isEmpty } ?? true
        return review.isValid && isMet ? .success : .dataError
      },
    ])

  /// Returns true if hardware keeps the device's keys.
  ///
  /// A simulated TPM keeps them in files and does not count; hardware that does not answer does count.
  private static func isBound(_ device: Device) async -> Bool {
    if device.keystoreKind == .software { return false }
    do throws(SignetError) { return try await !device.keystoreStatus().isSimulator } catch { return true }
  }

  /// Prints the server's policies as JSON, or the policies in force on this device as text.
  private static func explain(
    _ container: Container, on device: Device, _ arguments: Arguments
  ) async {
    var object: JSONObject = [
      "container": .string(container.id.description),
      "serverContainer": .string(container.serverContainerID.text),
    ]
    var keys = JSONObject()
    let isBoundToDevice = await isBound(device)
    for key in [nil] + Key.Usage.allCases.filter(container.hasOwnProtection) {
      let inForce = await device.protectionInForce(for: container, key: key)
      let sentences = inForce.sentences(isBoundToDevice: isBoundToDevice)
      guard arguments.isSet("json") else {
        arguments.output.print("\(container.title(of: key), limit: 1000):")
        for sentence in sentences { arguments.output.print("\(ours: sentence)") }
        continue
      }
      let policy = container.protection(of: key)
      let explanation: JSONObject = [
        "policy": .object(policy.json), "string": .string(policy.string),
        "sentences": .array(sentences.map { .string($0) }),
      ]
      if let key {
        keys[key.name.rawValue] = .object(explanation)
      } else {
        for (name, value) in explanation.members { object[name] = value }
      }
    }
    guard arguments.isSet("json") else {
      arguments.output.print("Its id at the server is \(container.serverContainerID).")
      return
    }
    if !keys.isEmpty { object["keys"] = .object(keys) }
    arguments.output.print(json: JSONValue.object(object).text)
  }

  private static func report(_ review: PolicyReview, _ profile: PolicyProfile?, _ arguments: Arguments) {
    let findings = review.findings.filter { $0.profile == nil || profile == nil || $0.profile == profile }
    if arguments.isSet("json") {
      let object: JSONObject = [
        "valid": .bool(review.isValid), "findings": .array(findings.map { .object($0.json) }),
      ]
      arguments.output.print(json: JSONValue.object(object).text)
      return
    }
    for finding in findings {
      let label: TerminalText = finding.severity == .profile ? "" : "\(finding.severity.rawValue): "
      arguments.output.print("\(label)\(finding.description, limit: 1000)")
    }
    guard review.isValid else {
      arguments.output.print("The policy cannot be used.")
      return
    }
    if let profile {
      let verb = review.violations(of: profile).isEmpty ? "meets" : "does not meet"
      arguments.output.print("The policy can be used; it \(verb) \(profile.rawValue).")
      return
    }
    let met = PolicyProfile.allCases.filter { review.violations(of: $0).isEmpty }.map(\.rawValue)
    let meets = met.isEmpty ? "meets no profile" : "meets \(met.joined(separator: ", "))"
    arguments.output.print("The policy can be used; it \(meets).")
  }

  /// Reviews a policy in a form that `init --policy` also accepts, or in a file.
  private static func review(_ argument: String) throws -> PolicyReview {
    if let profile = PolicyProfile(rawValue: argument) { return PolicyReview(profile.policy) }
    return PolicyReview(text: PolicyReview.isPolicy(argument) ? argument : try policyText(argument))
  }

  /// Reads the text of a policy, with a small size limit.
  private static func policyText(_ path: String) throws -> String {
    let text: String
    do throws(CommandFailure) { text = try InputFile.text(of: path, limit: 65_536) } catch {
      throw CommandFailure(
        error.exitCode,
        "\(error.message); name a file with a policy, give a policy string or a profile (\(ours: PolicyProfile.names)), or - for standard input"
      )
    }
    guard !text.isEmpty else { throw CommandFailure(.dataError, "\(path) is not a policy: it is empty") }
    return text
  }
}

extension PolicyFinding {
  fileprivate var json: JSONObject {
    var json: JSONObject = ["severity": .string(severity.rawValue), "message": .string(message)]
    json["rules"] = .array(rules.map { .string($0) })
    if let profile { json["profile"] = .string(profile.rawValue) }
    if let clause { json["clause"] = .string(clause) }
    return json
  }
}
