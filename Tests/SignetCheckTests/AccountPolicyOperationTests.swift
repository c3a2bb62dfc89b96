import SignetJSON
import Testing

@Suite("Account policies in signet-check", .timeLimit(.minutes(10)))
struct AccountPolicyOperationTests {
  private func evaluate(_ members: JSONObject) throws -> JSONObject {
    var request = members
    request["op"] = "policy-evaluate"
    return try #require(try CheckTool.answer(to: request).ok)
  }

  @Test("the answer lists the broken policies and the one that locks")
  func broken() throws {
    let ok = try evaluate([
      "policies": ["deviceTampering": ["score": 0.8], "biometricAvailable": [:], "geofence": [:]],
      "evidence": ["biometricAvailable": false, "tamperScore": 0.8],
    ])
    #expect(try !ok.bool("compliant"))
    #expect(try ok.string("lockingPolicy") == "biometricAvailable")
    #expect(try ok.strings("unknown") == ["geofence"])
    let names = try ok.array("breaches").map { value in
      guard case .object(let breach) = value else { throw JSONFailure.notAnObject }
      return try breach.string("policy")
    }
    #expect(names == ["biometricAvailable", "deviceTampering"])
  }

  @Test("the order is that of registration, and policies of an app are in the evidence")
  func registered() throws {
    let policies: JSONValue = ["biometricAvailable": [:], "deviceTampering": [:], "mine": [:]]
    let evidence: JSONValue = ["biometricAvailable": false, "tamperScore": 1, "mine": false]
    for order in [["deviceTampering", "biometricAvailable"], ["mine", "deviceTampering", "mine"]] {
      let ok = try evaluate([
        "policies": policies, "evidence": evidence, "registered": .array(order.map { .string($0) }),
      ])
      #expect(try ok.string("lockingPolicy") == order[0])
      #expect(try ok.array("breaches").count == 2)
    }
    let none = try evaluate(["policies": policies, "evidence": evidence, "registered": []])
    #expect(try none.bool("compliant") && !none.contains("lockingPolicy"))
  }

  @Test("no policies, as a text, without evidence")
  func forms() throws {
    #expect(try evaluate([:]).bool("compliant"))
    #expect(try evaluate(["policies": .null]).bool("compliant"))
    let ok = try evaluate(["policies": #"{"deviceTampering":{}}"#])
    #expect(try ok.string("lockingPolicy") == "deviceTampering")
    #expect(try ok.strings("indeterminate") == ["deviceTampering"])
  }

  @Test(
    "invalid requests are refused",
    arguments: [
      (["policies": 5], "input.invalid"), (["policies": "{"], "policy.invalid"),
      (["policies": ["": [:]]], "policy.invalid"),
      (["policies": ["deviceTampering": ["score": 1.5]]], "policy.invalid"),
      (["evidence": ["tamperScore": "high"]], "input.invalid"),
      (["registered": [""]], "policy.invalid"), (["registered": 5], "input.invalid"),
    ] as [(JSONObject, String)])
  func refusals(members: JSONObject, code: String) throws {
    var request = members
    request["op"] = "policy-evaluate"
    #expect(try CheckTool.answer(to: request).errorCode == code)
  }
}
