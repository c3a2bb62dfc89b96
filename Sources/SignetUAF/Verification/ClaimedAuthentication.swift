/// A parsed, unverified authentication response.
package struct ClaimedAuthentication: Sendable {
  package let response: AuthenticationResponse
  /// The parsed assertions, or the reasons why they cannot be parsed.
  let assertions: [Claim]

  enum Claim: Sendable {
    case assertion(AuthenticationAssertion)
    case refused(AssertionRefusal)
  }

  /// Parses a response.
  ///
  /// - Parameters:
  ///   - text: The JSON text, UTF-8.
  ///   - versions: The supported versions.
  ///   - knownExtensions: The ids of extensions that the caller evaluates.
  /// - Throws: ``UAFRefusal/message(_:)`` if the response is malformed.
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

  /// The claimed keys, which the server has to look up.
  package var keys: [KeyReference] {
    assertions.compactMap { claim in
      guard case .assertion(let assertion) = claim else { return nil }
      return KeyReference(aaid: assertion.data.aaid, keyID: assertion.data.keyID)
    }
  }
}
