/// An authentication response with its assertions read: what it claims, and nothing of it proved.
package struct ClaimedAuthentication: Sendable {
  /// The response.
  package let response: AuthenticationResponse
  /// Each assertion, or why it cannot be read.
  let assertions: [Claim]

  enum Claim: Sendable {
    case assertion(AuthenticationAssertion)
    case refused(AssertionRefusal)
  }

  /// Reads a response.
  ///
  /// - Parameters:
  ///   - text: The JSON text, UTF-8.
  ///   - versions: What the caller supports.
  ///   - knownExtensions: The ids of extensions that the caller will judge.
  /// - Throws: ``UAFRefusal/message(_:)``.
  package init(
    parsing text: [UInt8], versions: [UAFVersion] = [.v1_1], knownExtensions: Set<String> = []
  ) throws(UAFRefusal) {
    do throws(MessageFailure) {
      response = try AuthenticationResponse(parsing: text, versions: versions)
    } catch {
      throw .message(error)
    }
    var claims: [Claim] = []
    claims.reserveCapacity(response.assertions.count)
    for item in response.assertions {
      guard item.scheme == ResponseAssertion.tlvScheme else {
        claims.append(.refused(.scheme))
        continue
      }
      do throws(AssertionFailure) {
        claims.append(
          .assertion(try AuthenticationAssertion(parsing: item.bytes, understood: knownExtensions)))
      } catch {
        claims.append(.refused(.malformed(error)))
      }
    }
    assertions = claims
  }

  /// The keys that it claims to be signed with: what the server has to look up.
  package var keys: [KeyReference] {
    assertions.compactMap { claim in
      guard case .assertion(let assertion) = claim else { return nil }
      return KeyReference(aaid: assertion.data.aaid, keyID: assertion.data.keyID)
    }
  }
}
