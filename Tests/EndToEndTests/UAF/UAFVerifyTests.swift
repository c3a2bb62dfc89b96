import Foundation
import SignetCrypto
import SignetJSON
import SignetTestKit
import SignetUAF
import Testing
import UAFFixture

/// `signet-server uaf verify`: responses and assertions in files, and the findings about them.
@Suite(.timeLimit(.minutes(10))) struct UAFVerifyTests {
  private let folder: TemporaryFolder
  private let key = UAFTestKey()
  private let challenge = FinalChallenge(
    FinalChallengeParams(appID: "https://a.example", challenge: [UInt8](1...32), facetID: "ios:bundle-id:a"))

  init() throws { folder = try TemporaryFolder() }

  private func write(_ text: String, _ name: String) throws -> String {
    let file = URL(filePath: folder.file(name))
    try Data(text.utf8).write(to: file)
    return file.path
  }

  private func response(_ operation: UAFOperation, _ assertion: [UInt8]) -> String {
    let message: JSONObject = [
      "header": .object(OperationHeader(operation: operation, appID: "https://a.example").json),
      "fcParams": .string(challenge.text),
      "assertions": [["assertionScheme": "UAFV1TLV", "assertion": .string(Base64URL.encode(assertion))]],
    ]
    return JSONValue.array([.object(message)]).text
  }

  private func verify(_ words: String...) async throws -> ServerCommand.Result {
    try await ServerCommand.run(["uaf", "verify"] + words)
  }

  @Test("a registration verifies, and an authentication with its key in each format") func accepts()
    async throws
  {
    let registered = try key.registrationAssertion(key.registrationElements(challenge.hash))
    let registration = try write(response(.registration, registered), "registration.json")
    let good = try await verify(registration)
    #expect(good.status == 0 && good.output.contains("Verified: form"), good.summary)
    #expect(good.output.contains(key.keyID.text) && good.output.contains("basic_surrogate"), good.summary)
    // The key itself claims its model.
    #expect(good.output.contains("\nModel ") && good.output.contains(" claimed\n"), good.summary)
    for label in ["AAID  ", "Key ID  ", "Registration counter  ", "Attestation tag  "] {
      #expect(good.output.contains("\n\(label)"), good.summary)
    }
    let assertion = try key.authenticationAssertion(key.authenticationElements(challenge.hash))
    let authentication = try write(response(.authentication, assertion), "authentication.json")
    let alone = try write(Base64URL.encode(assertion) + "\n", "assertion")
    let hex = Hex.encode(key.encodedKey)
    let pem = try write(key.privateKey.publicKey.pemRepresentation, "key.pem")
    for file in [authentication, alone] {
      for words in [
        ["--registration", registration], ["--public-key", hex],
        ["--public-key", Base64URL.encode(key.encodedKey)],
        ["--public-key", pem], ["--public-key", try write(hex, "key.hex"), "--key-format", "0x0100"],
      ] {
        let result = try await ServerCommand.run(["uaf", "verify", file] + words)
        #expect(result.status == 0, result.summary)
      }
    }
    let shown = try await verify(authentication, "--public-key", hex)
    // Without a transaction there is no line for its hash.
    #expect(!shown.output.contains("Transaction hash") && !shown.output.contains("  \n"), shown.summary)
    let json = try await verify(authentication, "--public-key", hex, "--json")
    let object = try JSONObject(parsing: Array(json.output.utf8))
    #expect(json.status == 0 && object["verified"] == true && object["kind"] == "authenticationResponse")
    let bound = try await verify(alone, "--public-key", hex, "--fc-params", challenge.text, "--json")
    #expect(bound.output.contains("\"finalChallengeMatches\": true"), bound.summary)
  }

  @Test("the vendor's metadata are checked if given") func metadata() async throws {
    var certified = key
    let authority = try UAFTestAuthority()
    certified.attester = try authority.attester()
    let assertion = try certified.registrationAssertion(certified.registrationElements(challenge.hash))
    let registration = try write(response(.registration, assertion), "registration.json")
    let known = try write(key.statement(roots: [try authority.root]).json.text, "known.json")
    let good = try await verify(registration, "--metadata", known)
    #expect(good.status == 0, good.summary)
    #expect(good.output.contains("\nModel ") && good.output.contains(" attested\n"), good.summary)
    let unchecked = try await verify(registration, "--json")
    #expect(try JSONObject(parsing: Array(unchecked.output.utf8)).string("model") == "claimed")
    let other = try UAFTestAuthority().root
    let foreign = try await verify(
      registration, "--metadata", try write(key.statement(roots: [other]).json.text, "foreign.json"))
    #expect(foreign.status == 1 && foreign.errorOutput.contains("attestation certificate"), foreign.summary)
    let rootless = try await verify(
      registration, "--metadata", try write(key.statement().json.text, "rootless.json"))
    #expect(
      rootless.status == 1 && rootless.errorOutput.contains("does not use the attestation basic_full"),
      rootless.summary
    )
    var statement = UAFTestKey(aaid: AAID(vendor: 1, model: 2)).statement()
    let another = try await verify(registration, "--metadata", try write(statement.json.text, "another.json"))
    #expect(another.status == 1 && another.errorOutput.contains("no metadata"), another.summary)
    statement = UAFTestKey(aaid: key.aaid, isDER: true).statement(roots: [try authority.root])
    let der = try await verify(
      registration, "--metadata", try write(statement.json.text, "der.json"), "--json")
    #expect(
      der.status == 1 && der.output.contains("key format") && der.output.contains("algorithm"), der.summary)
    let garbage = try await verify(registration, "--metadata", registration)
    #expect(garbage.status == 65 && garbage.errorOutput.contains("not a metadata statement"), garbage.summary)
  }

  @Test("each failed check is named, and the exit status is 1") func refuses() async throws {
    let assertion = try key.authenticationAssertion(key.authenticationElements(challenge.hash))
    let authentication = try write(response(.authentication, assertion), "authentication.json")
    let keyless = try await verify(authentication)
    #expect(keyless.status == 1 && keyless.errorOutput.contains("public key is not known"), keyless.summary)
    #expect(keyless.errorOutput.contains("Name the key with --registration FILE"), keyless.summary)
    let ended = try write(
      #"[{"header":{"upv":{"major":1,"minor":1},"op":"Dereg","appID":"https://a.example"},"authenticators":[{"aaid":"","keyID":""}]}]"#,
      "dereg.json")
    let nothing = try await verify(ended)
    #expect(
      nothing.isRefusal(1, "a deregistration has no signature: there is nothing to verify"), nothing.summary)
    let other = try await verify(authentication, "--public-key", Hex.encode(UAFTestKey().encodedKey))
    #expect(other.status == 1 && other.errorOutput.contains("signature is not valid"), other.summary)
    let cut = try await verify(try write(response(.authentication, assertion.dropLast()), "cut.json"))
    #expect(cut.status == 1 && cut.errorOutput.contains("beyond the end"), cut.summary)
    let garbage = try await verify(try write("[]", "garbage.json"), "--json")
    #expect(garbage.status == 1 && garbage.output.contains("\"verified\": false"), garbage.summary)
    let noKey = try await verify(authentication, "--public-key", "no key")
    #expect(noKey.status == 65, noKey.summary)
    let format = try await verify(authentication, "--public-key", "00", "--key-format", "pem")
    #expect(format.status == 64, format.summary)
    let missing = try await verify(folder.file("none"))
    #expect(missing.status == 66, missing.summary)
    let lost = try await verify(authentication, "--registration", folder.file("none"))
    #expect(lost.status == 66, lost.summary)
    let large = try write(String(repeating: " ", count: (1 << 20) + 1), "large.json")
    #expect(try await verify(large).status == 65)
    let standard = try await verify(try write("AT4+/w==", "standard"))
    #expect(standard.status == 65 && standard.errorOutput.contains("- and _"), standard.summary)
    let strange = try write("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "strange.pem")
    let certificate = try await verify(authentication, "--public-key", strange)
    #expect(certificate.status == 65 && certificate.errorOutput.contains("public key"), certificate.summary)
  }

  @Test("combinations of options without a meaning are refused") func combinations() async throws {
    let assertion = try key.authenticationAssertion(key.authenticationElements(challenge.hash))
    let authentication = try write(response(.authentication, assertion), "authentication.json")
    let registered = try key.registrationAssertion(key.registrationElements(challenge.hash))
    let registration = try write(response(.registration, registered), "registration.json")
    for words in [
      ["--key-format", "0x0100"], ["--fc-params", challenge.text],
      ["--registration", registration, "--public-key", Hex.encode(key.encodedKey)],
      ["--registration", registration, "--key-format", "0x0100"],
    ] {
      let result = try await ServerCommand.run(["uaf", "verify", authentication] + words)
      #expect(result.status == 64, result.summary)
    }
  }

  @Test("texts in a message cannot control the terminal") func terminal() async throws {
    let assertion = try key.authenticationAssertion(key.authenticationElements(challenge.hash))
    let text = response(.authentication, assertion)
    let escape = "\\u001b[2J\\u001b]0;x\\u0007\\u009b1m\\u202e"
    let header = #""exts":[{"id":"\#(escape)","data":"","fail_if_unknown":true}],"op""#
    for spoiled in [
      text.replacing(#""op""#, with: header), text.replacing("UAFV1TLV", with: escape),
      text.replacing("https://a.example", with: escape),
      text.replacing(#""Auth""#, with: "\"\(escape)\""),
    ] {
      #expect(spoiled != text && spoiled.contains(escape))
      let file = try write(spoiled, "spoiled.json")
      for words in [[], ["--registration", file]] {
        let result = try await ServerCommand.run(["uaf", "verify", file] + words)
        #expect(result.status == (words.isEmpty ? 1 : 65), result.summary)
        let shown = (result.output + result.errorOutput).unicodeScalars
        #expect(
          !shown.contains {
            $0.value != 0x0A && ($0.value < 0x20 || (0x7F...0x9F).contains($0.value)) || $0 == "\u{202E}"
          },
          result.summary)
      }
    }
  }
}

extension UAFVerifyTests {
  private func response(_ operation: UAFOperation, _ assertion: ArraySlice<UInt8>) -> String {
    response(operation, Array(assertion))
  }
}
