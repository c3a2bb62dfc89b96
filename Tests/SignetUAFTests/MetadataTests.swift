import SignetCrypto
import SignetJSON
import SignetUAF
import Testing
import UAFFixture

@Suite struct MetadataTests {
  private static let text = """
    {"aaid":"ABCD#0001","description":"d","authenticatorVersion":2,"upv":[{"major":1,"minor":1}],
    "assertionScheme":"UAFV1TLV","authenticationAlgorithm":1,"publicKeyAlgAndEncoding":256,
    "attestationTypes":[15880],"userVerificationDetails":[[{"userVerification":2,"baDesc":{"FAR":0.00002,"maxRetries":5}}],
    [{"userVerification":4,"caDesc":{"base":10,"minLength":6,"maxRetries":5,"blockSlowdown":0}},
    {"userVerification":1}],[{"userVerification":128,"paDesc":{"minComplexity":34}}]],
    "keyProtection":6,"isKeyRestricted":true,"matcherProtection":2,"attachmentHint":1,"isSecondFactorOnly":false,
    "tcDisplay":1,"tcDisplayContentType":"image/png","tcDisplayPNGCharacteristics":[{"width":320,"height":480,
    "bitDepth":16,"colorType":2,"compression":0,"filter":0,"interlace":0,"plte":[{"r":1,"g":2,"b":3}]}],
    "attestationRootCertificates":[],"ecdaaTrustAnchors":[{"X":"a","Y":"b","c":"c","sx":"d","sy":"e","G1Curve":"f"}],"icon":"data:image/png;base64,AA==","supportedExtensions":
    [{"id":"x","fail_if_unknown":false}],"legalHeader":"anything"}
    """

  private static func statement(_ edit: (inout JSONObject) -> Void = { _ in }) throws -> MetadataStatement {
    var object = try JSONObject(parsing: Array(text.utf8))
    edit(&object)
    return try MetadataStatement(object)
  }

  @Test("a metadata statement survives a round trip") func whole() throws {
    let statement = try MetadataStatement(parsing: Array(Self.text.utf8))
    #expect(statement.aaid == AAID(vendor: 0xABCD, model: 1) && statement.authenticatorVersion == 2)
    #expect(statement.pngCharacteristics.first?.palette.first?.blue == 3)
    #expect(try MetadataStatement(statement.json) == statement)
    #expect(
      statement.userVerificationDetails[1][0].accuracy
        == .code(base: 10, minimumLength: 6, maximumRetries: 5, blockSlowdown: 0))
  }

  @Test("user verification: alternatives and combinations are distinguished") func traits() throws {
    let traits = try Self.statement().traits
    #expect(traits.userVerification == [[.fingerprint, .pattern], [.passcode, .presence, .all]])
    var criterion = MatchCriteria()
    criterion.userVerification = .fingerprint
    #expect(criterion.matches(traits))
    criterion.userVerification = .passcode
    #expect(!criterion.matches(traits))
    criterion.userVerification = [.passcode, .presence, .all]
    #expect(criterion.matches(traits))
  }

  @Test(
    "missing required members are refused",
    arguments: [
      "aaid", "description", "authenticatorVersion", "upv", "assertionScheme", "authenticationAlgorithm",
      "publicKeyAlgAndEncoding", "attestationTypes", "userVerificationDetails", "keyProtection",
      "matcherProtection", "attachmentHint", "isSecondFactorOnly", "tcDisplay", "attestationRootCertificates",
    ])
  func missing(name: String) {
    #expect(throws: MessageFailure.member(name, .missing)) { _ = try Self.statement { $0[name] = nil } }
  }

  @Test(
    "malformed members are refused",
    arguments: [
      ("protocolFamily", "fido2"), ("aaid", "ABCD"), ("authenticatorVersion", 65_536), ("upv", []),
      ("userVerificationDetails", [[]]), ("userVerificationDetails", [[["userVerification": 3]]]),
      ("userVerificationDetails", [[["userVerification": 2, "baDesc": ["FAR": 2]]]]),
      ("userVerificationDetails", [[["userVerification": 2, "baDesc": ["FAR": "0"]]]]),
      ("userVerificationDetails", [[["userVerification": 4, "caDesc": ["base": 10]]]]),
      ("attestationRootCertificates", ["$"]), ("attestationRootCertificates", [1]),
      ("isSecondFactorOnly", "false"),
      ("tcDisplay", -1), ("ecdaaTrustAnchors", [["X": "a"]]),
    ] as [(String, JSONValue)])
  func malformed(name: String, value: JSONValue) {
    #expect(throws: MessageFailure.self) { _ = try Self.statement { $0[name] = value } }
  }

  @Test("garbage and oversized statements are refused") func garbage() {
    #expect(throws: MessageFailure.self) { _ = try MetadataStatement(parsing: [0xFF]) }
    #expect(throws: MessageFailure.self) { _ = try MetadataStatement(parsing: Array("[]".utf8)) }
    #expect(throws: MessageFailure.self) {
      _ = try MetadataStatement(parsing: [UInt8](repeating: 0x20, count: (1 << 20) + 1))
    }
  }

  @Test("root certificates are Base64 with or without line breaks, and certificates") func roots() throws {
    let root = try UAFTestAuthority().root
    var base64 = Base64.encode(root)
    base64.insert("\n", at: base64.index(base64.startIndex, offsetBy: 64))
    let statement = try Self.statement { $0["attestationRootCertificates"] = [.string(base64)] }
    #expect(statement.attestationRootCertificates == [root])
    _ = try AuthenticatorModel(statement)
    let bad = try Self.statement { $0["attestationRootCertificates"] = ["AAAA"] }
    #expect(throws: MessageFailure.member("attestationRootCertificates", .form)) {
      _ = try AuthenticatorModel(bad)
    }
  }

  @Test("of two statements of one model the newer version is used") func models() throws {
    let old = try AuthenticatorModel(try Self.statement())
    let new = try AuthenticatorModel(try Self.statement { $0["authenticatorVersion"] = 3 })
    for list in [[old, new], [new, old]] {
      let models = AuthenticatorModels(list)
      #expect(models[AAID(vendor: 0xABCD, model: 1)]?.statement.authenticatorVersion == 3)
      #expect(models.aaids == [AAID(vendor: 0xABCD, model: 1)])
    }
    #expect(AuthenticatorModels([])[AAID(vendor: 1, model: 1)] == nil)
  }
}
