import SignetHTTPClient
import SignetJOSE
import SignetJSON
import SignetProtocol

extension UAFOperations {
  /// A dispatch target in a server's answer, with its keys.
  struct RemoteTarget: Sendable {
    let id: String
    let name: String
    let pushToken: String?
    let keys: [(aaid: String, keyID: String)]

    init(_ object: JSONObject) throws(JSONFailure) {
      (id, name) = (try object.string("id"), try object.string("name"))
      pushToken = try object.optionalString("target").flatMap { $0.isEmpty ? nil : $0 }
      var keys: [(aaid: String, keyID: String)] = []
      for case .object(let key) in try object.optionalArray("credentials") ?? [] {
        keys.append((try key.string("aaid"), try key.string("keyId")))
      }
      self.keys = keys
    }

    /// Parses all dispatch targets of an answer.
    static func list(in claims: JSONObject) throws(JSONFailure) -> [RemoteTarget] {
      var targets: [RemoteTarget] = []
      for case .object(let object) in try claims.array("dispatchTargets") {
        targets.append(try RemoteTarget(object))
      }
      return targets
    }
  }

  /// Fetches the dispatch targets that the server of an account has for this device.
  func remoteTargets(
    of entry: UAFDeviceState.Account, _ target: String, on deviceID: String
  ) async throws(UAFDeviceServiceFailure) -> [RemoteTarget] {
    let server = try deviceServer(of: entry.account)
    let claims = try await fetchClaims(
      server, server.url(server.configuration.deviceResourcePath + "credentials", deviceID), entry, target)
    do throws(JSONFailure) {
      return try RemoteTarget.list(in: claims)
    } catch { throw .network(server.problem(.malformed(error.description))) }
  }

  /// Sends a signed query and returns the claims of the answer.
  ///
  /// TLS authenticates the server, so the signature of the answer is not verified here. Code that passes the answer on must verify it.
  func fetchClaims(
    _ server: UAFServer, _ url: String, _ entry: UAFDeviceState.Account, _ target: String
  ) async throws(UAFDeviceServiceFailure) -> JSONObject {
    try await fetchClaimsAndTag(server, url, entry, target).claims
  }

  /// Sends a signed query and returns the claims of the answer with its `ETag`.
  func fetchClaimsAndTag(
    _ server: UAFServer, _ url: String, _ entry: UAFDeviceState.Account, _ target: String
  ) async throws(UAFDeviceServiceFailure) -> (claims: JSONObject, tag: String?) {
    let answer: HTTPResponse
    let signature = try await signature(
      RequestSignatureInput(method: .get, url: url), for: target, [:], of: entry)
    do throws(UAFNetworkProblem) {
      answer = try await server.exchange(
        .get, url, accepting: "application/jose", signature: signature)
    } catch { throw UAFDeviceServiceFailure(error) }
    do { return (try Self.claims(in: answer.body), answer.header("ETag")) } catch {
      throw .network(server.problem(.malformed("its answer is not a JWS with a JSON object")))
    }
  }

  /// Parses the claims of an answer without verifying its signature.
  static func claims(in body: [UInt8]) throws -> JSONObject {
    let text = String(decoding: body, as: UTF8.self).trimmingNewlines
    let jws = try JWS(compact: text, maximumByteCount: 1 << 20)
    return try JSONObject(parsing: jws.unverifiedPayload, limits: JSONLimits(maximumByteCount: 1 << 20))
  }

  /// Changes the data of this device at the server of an account.
  package func changeTarget(
    _ target: String, _ claims: JSONObject, of entry: UAFDeviceState.Account
  ) async throws(UAFDeviceServiceFailure) {
    let server = try deviceServer(of: entry.account)
    let url = server.url(server.configuration.dispatchTargetResourcePath, target)
    let body = try await signature(
      RequestSignatureInput(method: .patch, url: url), for: target, claims, of: entry)
    do throws(UAFNetworkProblem) {
      _ = try await server.exchange(
        .patch, url, Array(body.utf8),
        "application/jose;charset=UTF-8")
    } catch { throw UAFDeviceServiceFailure(error) }
  }

  /// Deletes a dispatch target at the server of an account; the account's own target is deleted with a signature, another
  /// with an authorization.
  func removeTarget(
    _ target: String, of entry: UAFDeviceState.Account, by authorization: UAFAuthorization? = nil
  ) async throws(UAFDeviceServiceFailure) {
    let server = try deviceServer(of: entry.account)
    let url = server.url(server.configuration.dispatchTargetResourcePath, target)
    var signature: String?
    if target == entry.target {
      signature = try await self.signature(
        RequestSignatureInput(method: .delete, url: url), for: target, [:], of: entry)
    }
    do throws(UAFNetworkProblem) {
      _ = try await server.exchange(.delete, url, by: authorization, signature: signature)
    } catch { throw UAFDeviceServiceFailure(error) }
  }

  func deviceServer(of account: UAFAccount) throws(UAFDeviceServiceFailure) -> UAFServer {
    do throws(UAFOperationFailure) { return try server(of: account) } catch {
      if case .device(let failure) = error { throw .device(failure) }
      throw .network(UAFNetworkProblem(.transport(.insecureURL), at: account.server))
    }
  }

  private func signature(
    _ request: RequestSignatureInput, for target: String, _ claims: JSONObject,
    of entry: UAFDeviceState.Account
  ) async throws(UAFDeviceServiceFailure) -> String {
    do throws(SignetError) {
      return try await DeviceSignature.make(
        of: request, for: target, saying: claims, with: try await store.signingKey(entry), on: device)
    } catch { throw .device(error) }
  }
}

extension UAFDeviceServiceFailure {
  init(_ problem: UAFNetworkProblem) {
    switch (problem.status, problem.code) {
    case (_, "clockSkewTooBig"?): self = .clockSkewTooBig(server: problem.server)
    case (401?, _), (403?, _): self = .forbidden(server: problem.server)
    case (404?, nil), (405?, _), (501?, _): self = .operationNotSupportedByBackend(server: problem.server)
    default: self = .network(problem)
    }
  }

  /// Indicates whether the server does not know the dispatch target that signed.
  var isUnknownTarget: Bool {
    if case .network(let problem) = self { problem.code == "targetUnknown" } else { false }
  }
}

extension String {
  /// The text without trailing line breaks, which some servers append.
  fileprivate var trimmingNewlines: String {
    var text = self[...]
    while let last = text.utf8.last, last == 0x0A || last == 0x0D { text = text.dropLast() }
    return String(text)
  }
}
