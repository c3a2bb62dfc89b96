import SignetCrypto
import SignetHTTPClient
import SignetJOSE
import SignetJSON
import SignetSystem
import SignetUAF

extension UAFOperations {
  // MARK: Decoding

  /// Decodes a payload from the JSON of a push message or a code.
  ///
  /// - Parameter text: UTF-8.
  /// - Returns: The payload, decrypted if it was encrypted.
  /// - Throws: ``SignetError``: `payloadMalformed`, `payloadNotForThisDevice`.
  public func decode(json text: [UInt8]) async throws(SignetError) -> OutOfBandPayload {
    do throws(UAFPayloadFailure) { return try await decode(DeliveredPayload(json: text)) } catch {
      throw error.signetError
    }
  }

  /// Decodes a payload from the base64url value of a link.
  ///
  /// - Parameter text: The value, with or without padding.
  /// - Returns: The payload, decrypted if it was encrypted.
  /// - Throws: ``SignetError``: `payloadMalformed`, `payloadNotForThisDevice`.
  public func decode(base64URL text: String) async throws(SignetError) -> OutOfBandPayload {
    do throws(UAFPayloadFailure) { return try await decode(DeliveredPayload(base64URL: text)) } catch {
      throw error.signetError
    }
  }

  /// Decodes a payload in any form: a link with `dispatchTokenResponse`, base64url, or JSON.
  ///
  /// - Parameter text: The scanned or pasted text.
  /// - Returns: The payload, decrypted if it was encrypted.
  /// - Throws: ``SignetError``: `payloadMalformed`, `payloadNotForThisDevice`.
  public func decode(scanned text: String) async throws(SignetError) -> OutOfBandPayload {
    do throws(UAFPayloadFailure) { return try await decode(DeliveredPayload(anyForm: text)) } catch {
      throw error.signetError
    }
  }

  /// Decodes the answer of a server's enrolment call.
  ///
  /// - Parameter text: The whole JSON of the answer, UTF-8.
  /// - Returns: The payload of its link.
  /// - Throws: ``SignetError``: `payloadMalformed`, `payloadNotForThisDevice`.
  public func decode(enrolmentResponse text: [UInt8]) async throws(SignetError) -> OutOfBandPayload {
    do throws(UAFPayloadFailure) { return try await decode(DeliveredPayload(enrolmentResponse: text)) } catch
    {
      throw error.signetError
    }
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
    do throws(SignetError) {
      var keys: [DecryptionKey] = []
      for entry in try await store.state()?.accounts ?? [] {
        keys.append(DecryptionKey(try await store.encryptionKey(entry)))
      }
      return keys
    } catch { throw .device(error) }
  }

  // MARK: Redeeming

  /// Redeems the token of a payload; a token can be redeemed once.
  ///
  /// - Parameter payload: The decoded payload.
  /// - Returns: The operation to run.
  /// - Throws: ``SignetError``: `tokenExpired`, `tokenRedeemed`, `serverNotTrusted`.
  public func redeem(_ payload: OutOfBandPayload) async throws(SignetError) -> OutOfBandOperation {
    do throws(UAFOutOfBandFailure) { return try await redeemed(payload) } catch { throw error.signetError }
  }

  private func redeemed(
    _ payload: OutOfBandPayload
  ) async throws(UAFOutOfBandFailure) -> OutOfBandOperation {
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
    let redeemed = RedeemedRequest(operations: self, server: server, request: answer)
    switch answer.operation {
    case .registration?: return .registration(OutOfBandRegistration(redeemed: redeemed))
    case .authentication?: return .authentication(OutOfBandAuthentication(redeemed: redeemed))
    case .deregistration?: return .deregistration(OutOfBandDeregistration(redeemed: redeemed))
    case nil: throw .fido(.protocolError)
    }
  }

  /// The server of a payload: the configured one, one of the other servers of the configuration, or one with an account on this device.
  private func server(of payload: OutOfBandPayload) async throws(UAFOutOfBandFailure) -> UAFServer {
    guard let redeemURL = HTTPSURL(payload.redeemURL) else { throw .fido(.insecureTransport) }
    let accounts: [UAFAccount]
    do throws(SignetError) { accounts = try await store.state()?.accounts.map(\.account) ?? [] } catch {
      throw .device(error)
    }
    let trustedServers = [configuration.baseURL] + configuration.otherServers + accounts.map(\.server)
    let origin = redeemURL.origin.lowercased()
    guard let url = trustedServers.first(where: { HTTPSURL($0)?.origin.lowercased() == origin }) else {
      throw .serverNotTrusted(redeemURL.origin)
    }
    do throws(UAFOperationFailure) {
      return url == configuration.baseURL ? try server() : try server(at: url)
    } catch {
      if case .device(let failure) = error { throw .device(failure) }
      throw .fido(.insecureTransport)
    }
  }
}
