import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetTransport
import SignetUAF

extension UAFOperations {
  // MARK: Decoding

  /// Reads a payload: the JSON of a push or of a code.
  ///
  /// - Parameter text: UTF-8.
  /// - Returns: What it says, decrypted where it was encrypted.
  /// - Throws: ``UAFPayloadFailure``.
  public func decode(json text: [UInt8]) async throws(UAFPayloadFailure) -> OutOfBandPayload {
    try await decode(DeliveredPayload(json: text))
  }

  /// Reads a payload: the base64url of a link.
  ///
  /// - Parameter text: With or without padding.
  /// - Returns: What it says, decrypted where it was encrypted.
  /// - Throws: ``UAFPayloadFailure``.
  public func decode(base64URL text: String) async throws(UAFPayloadFailure) -> OutOfBandPayload {
    try await decode(DeliveredPayload(base64URL: text))
  }

  /// Reads a payload in whatever form a person has it: a link with `dispatchTokenResponse`, base64url, or JSON.
  ///
  /// - Parameter text: What was scanned or pasted.
  /// - Returns: What it says, decrypted where it was encrypted.
  /// - Throws: ``UAFPayloadFailure``.
  public func decode(scanned text: String) async throws(UAFPayloadFailure) -> OutOfBandPayload {
    try await decode(DeliveredPayload(anyForm: text))
  }

  /// Reads what a server's enrolment call has answered.
  ///
  /// - Parameter text: The whole JSON of the answer, UTF-8.
  /// - Returns: What its link says.
  /// - Throws: ``UAFPayloadFailure``.
  public func decode(enrolmentResponse text: [UInt8]) async throws(UAFPayloadFailure) -> OutOfBandPayload {
    try await decode(DeliveredPayload(enrolmentResponse: text))
  }

  func decode(_ delivered: DeliveredPayload) async throws(UAFPayloadFailure) -> OutOfBandPayload {
    switch delivered.content {
    case .plain(let object): return try OutOfBandPayload(object, wasEncrypted: false)
    case .encrypted(let text):
      let jwe: JWE
      do throws(JOSEFailure) { jwe = try JWE(compact: text) } catch { throw .malformed(error.description) }
      for key in try await decryptionKeys() {
        let opened: DecryptedJWE
        do throws(JOSEFailure) {
          opened = try jwe.decrypted(
            with: key, allowing: [.ecdhES, .ecdhESA256KW], [.a256GCM, .a128CBCHS256])
        } catch { continue }
        let object: JSONObject
        do throws(JSONFailure) { object = try JSONObject(parsing: opened.plaintext) } catch {
          throw .malformed(error.description)
        }
        return try OutOfBandPayload(object, wasEncrypted: true)
      }
      throw .decryption
    }
  }

  private func decryptionKeys() async throws(UAFPayloadFailure) -> [DecryptionKey] {
    do throws(SignetFailure) {
      var keys: [DecryptionKey] = []
      for entry in try await store.state()?.accounts ?? [] {
        keys.append(DecryptionKey(try await store.encryptionKey(entry)))
      }
      return keys
    } catch { throw .device(error) }
  }

  // MARK: Redeeming

  /// Redeems the token of a payload, which can be done once.
  ///
  /// - Parameter payload: What was decoded.
  /// - Returns: What is to be done now.
  /// - Throws: ``UAFOutOfBandFailure``.
  public func redeem(_ payload: OutOfBandPayload) async throws(UAFOutOfBandFailure) -> OutOfBandOperation {
    let server = try await server(of: payload)
    let answer: ReturnUAFRequest
    do throws(UAFNetworkProblem) {
      answer = try await server.redeem(payload.token, at: payload.redeemURL)
    } catch { throw .network(error) }
    switch UAFStatus(rawValue: answer.statusCode) {
    case .ok: break
    case .timeout: throw .tokenExpired(server: server.name)
    case .requestInvalid: throw .tokenAlreadyRedeemed(server: server.name)
    default: throw .network(server.problem(.refused(answer.statusCode, description: nil)))
    }
    switch answer.operation {
    case .registration?: return .registration(OutOfBandRegistration(self, server, answer))
    case .authentication?: return .authentication(OutOfBandAuthentication(self, server, answer))
    case .deregistration?: return .deregistration(OutOfBandDeregistration(self, server, answer))
    case nil: throw .fido(.protocolError)
    }
  }

  /// The server that a payload leads to: the configured one, one that is named beside it, or one with an account here.
  private func server(of payload: OutOfBandPayload) async throws(UAFOutOfBandFailure) -> UAFServer {
    guard let place = UAFPlace(payload.redeemURL) else { throw .fido(.insecureTransport) }
    let accounts: [UAFAccount]
    do throws(SignetFailure) { accounts = try await store.state()?.accounts.map(\.account) ?? [] } catch {
      throw .device(error)
    }
    let known = [configuration.baseURL] + configuration.otherServers + accounts.map(\.server)
    let origin = place.origin.lowercased()
    guard let url = known.first(where: { UAFPlace($0)?.origin.lowercased() == origin }) else {
      throw .serverNotTrusted(place.origin)
    }
    do throws(UAFOperationFailure) {
      return url == configuration.baseURL ? try server() : try server(at: url)
    } catch {
      if case .device(let failure) = error { throw .device(failure) }
      throw .fido(.insecureTransport)
    }
  }
}
