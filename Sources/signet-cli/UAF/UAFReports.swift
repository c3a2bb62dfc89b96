import Signet
import SignetJSON
import SignetTerminal
import SignetUAFClient

extension Arguments {
  func report(_ outcome: UAFRegistrationOutcome) {
    var object: JSONObject = [
      "username": .string(outcome.account.username), "server": .string(outcome.account.server),
      "authenticators": .array(outcome.aaids.map { .string($0) }),
    ]
    if let failure = outcome.targetFailure {
      object["warning"] = .string(failure.description)
      errorOutput.print(
        "signet: the server does not know this device yet, so no messages reach it: \(failure, limit: 2_000)")
    }
    let name = TerminalText("\(outcome.account.username) at \(outcome.account.server)", limit: 1_000)
    report("Registered \(name).", object)
  }

  func report(_ authorization: UAFAuthorization?) {
    var object: JSONObject = ["authenticated": .bool(true)]
    switch authorization {
    case .jwt(let token)?:
      object["jwt"] = .string(token)
      if !isSet("json") { output.print("\(token)") }
    case .cookies(let cookies)?:
      object["cookies"] = .array(
        cookies.map { ["name": .string($0.name), "value": .string($0.value), "url": .string($0.url)] })
      if !isSet("json") {
        for cookie in cookies { output.print("\(cookie.name)=\(cookie.value)") }
      }
    default: break
    }
    if isSet("json") {
      output.print(json: JSONValue.object(object).text)
    } else {
      errorOutput.print("Authenticated.")
    }
  }

  func report(_ payload: OutOfBandPayload) {
    if isSet("json") {
      output.print(json: JSONValue.object(payload.json).text)
      return
    }
    output.print("\(ours: payload.operation.rawValue) at \(payload.redeemURL)")
    if let data = payload.data { output.print("  says \(data, limit: 1_000)") }
    output.print(payload.wasEncrypted ? "  encrypted for this device" : "  not encrypted")
  }

  func report(_ information: UAFDeviceInformation) {
    if isSet("json") {
      output.print(json: JSONValue.object(information.json).text)
      return
    }
    output.print("name      \(information.name, limit: 300)")
    output.print("device id \(information.deviceID)")
    output.print("pushes    \(information.pushToken == nil ? "off" : "on")")
    for (account, target) in information.dispatchTargets.sorted(by: { $0.key < $1.key }) {
      let name = TerminalText("\(account.username) at \(account.server)", limit: 500)
      output.print("target    \(name): \(target, limit: 100)")
    }
  }

  func report(removed keys: [UAFKey]) {
    report(
      keys.count == 1 ? "1 key was removed." : "\(keys.count) keys were removed.",
      [
        "gone": .array(
          keys.map {
            ["username": .string($0.username), "aaid": .string($0.aaid), "keyId": .string($0.keyID)]
          })
      ])
  }

  func report(errors: [UAFDeviceServiceFailure]) {
    for error in errors {
      let server = error.server.map { "\($0): " } ?? ""
      errorOutput.print("signet: \(server)\(error, limit: 2_000)")
    }
  }

  func report(_ check: UAFDeviceCheck, as prefix: String = "") {
    report(errors: check.errors)
    if isSet("json") {
      let object: JSONObject = [
        "mismatches": .array(check.mismatches.map { .object($0.json) }),
        "errors": .array(
          check.errors.map { ["server": .string($0.server ?? ""), "error": .string($0.description)] }),
      ]
      output.print(json: JSONValue.object(object).text)
      return
    }
    for mismatch in check.mismatches {
      let name = "\(mismatch.account.username) at \(mismatch.account.server)"
      output.print("\(name): \(ours: prefix)\(mismatch, limit: 2_000)")
    }
    if check.mismatches.isEmpty, check.errors.isEmpty { output.print("Nothing differs.") }
  }

  /// Prints the differences before a synchronization, and its result.
  ///
  /// - Parameters:
  ///   - check: The differences.
  ///   - failures: The failures of the synchronization.
  ///   - server: The server that had a token; `nil` for none.
  func report(
    _ check: UAFDeviceCheck, synchronizedBut failures: [UAFDeviceServiceFailure],
    withTokenOf server: String?
  ) {
    report(UAFDeviceCheck(mismatches: check.mismatches, errors: check.errors + failures), as: "found: ")
    guard !isSet("json"), !check.mismatches.isEmpty else { return }
    let waits = check.mismatches.contains { mismatch in
      if case .missingDeviceInformationInServer(let account, _) = mismatch {
        account.server != server
      } else {
        false
      }
    }
    output.print(
      !failures.isEmpty
        ? "Not all differences were removed; signet uaf device check shows what is left."
        : waits
          ? "Synchronised; a server that does not know this device learns of it with the next authentication."
          : "Synchronised.")
  }

  func report(_ pending: PendingOutOfBandOperations) {
    if isSet("json") {
      let list = pending.operations.map { JSONValue.object($0.json) }
      output.print(json: JSONValue.object(["operations": .array(list)]).text)
      return
    }
    if pending.operations.isEmpty { errorOutput.print("Nothing waits.") }
    for operation in pending.operations {
      let text =
        "\(Moment.text(operation.creationTimeInEpochMillis / 1_000))  \(operation.payload.operation.rawValue) "
        + "for \(operation.account.username) at \(operation.account.server)"
      output.print("\(text, limit: 1_000)")
    }
  }
}

extension OutOfBandPayload {
  /// The `--json` form without the token, which anyone who has it can redeem.
  var json: JSONObject {
    var object: JSONObject = [
      "operation": .string(operation.rawValue), "redeemUrl": .string(redeemURL),
      "encrypted": .bool(wasEncrypted),
    ]
    if let data { object["data"] = .string(data) }
    return object
  }
}

extension PendingOutOfBandOperation {
  var json: JSONObject {
    var object = payload.json
    object["username"] = .string(account.username)
    object["creationTimeInEpochMillis"] = .integer(creationTimeInEpochMillis)
    object["dispatchChannel"] = .string(dispatchChannel)
    return object
  }
}

extension UAFDeviceInformation {
  var json: JSONObject {
    let targets = dispatchTargets.sorted { $0.key < $1.key }.map { account, target -> JSONValue in
      ["username": .string(account.username), "server": .string(account.server), "id": .string(target)]
    }
    return [
      "name": .string(name), "deviceId": .string(deviceID), "push": .bool(pushToken != nil),
      "dispatchTargets": .array(targets),
    ]
  }
}

extension UAFMismatch {
  var json: JSONObject {
    var object: JSONObject = [
      "username": .string(account.username), "server": .string(account.server),
      "text": .string(description),
    ]
    switch self {
    case .missingAuthenticatorInMobileDevice(_, let aaid, let keyID):
      object["kind"] = "missingAuthenticatorInMobileDevice"
      (object["aaid"], object["keyId"]) = (.string(aaid), .string(keyID))
    case .missingAuthenticatorInServer(_, let aaid, let keyID):
      object["kind"] = "missingAuthenticatorInServer"
      (object["aaid"], object["keyId"]) = (.string(aaid), .string(keyID))
    case .missingDeviceInformationInMobileDevice(_, let target):
      object["kind"] = "missingDeviceInformationInMobileDevice"
      object["dispatchTarget"] = .string(target)
    case .missingDeviceInformationInServer: object["kind"] = "missingDeviceInformationInServer"
    case .deviceName(_, _, let localName, let serverName):
      object["kind"] = "deviceName"
      (object["onDevice"], object["inServer"]) = (.string(localName), .string(serverName))
    case .pushToken: object["kind"] = "pushToken"
    }
    return object
  }
}

/// The output of `signet uaf list --json`.
struct UAFListing {
  let json: JSONObject

  init(
    _ accounts: [UAFAccount], _ authenticators: [UAFAuthenticator], _ information: UAFDeviceInformation?,
    _ facet: String
  ) {
    var object: JSONObject = [
      "facetId": .string(facet),
      "accounts": .array(
        accounts.map { ["username": .string($0.username), "server": .string($0.server)] }),
      "authenticators": .array(
        authenticators.map { authenticator in
          [
            "aaid": .string(authenticator.aaid), "kind": .string(authenticator.kind.rawValue),
            "supported": .bool(authenticator.isSupportedByHardware),
            "enrolled": .bool(authenticator.isEnrolledInSystem),
            "keys": .array(
              authenticator.keys.map {
                ["username": .string($0.username), "keyId": .string($0.keyID), "aaid": .string($0.aaid)]
              }),
          ]
        }),
    ]
    if let information { object["device"] = .object(information.json) }
    json = object
  }
}
