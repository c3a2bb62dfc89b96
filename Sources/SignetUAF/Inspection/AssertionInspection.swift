import SignetCrypto

/// The results of inspecting one assertion.
package struct AssertionInspection: Sendable {
  package enum Content: Sendable {
    case registration(RegistrationAssertion)
    case authentication(AuthenticationAssertion)
  }

  package let content: Content
  /// Indicates whether its hash is that of the final challenge; `nil` if the final challenge is unknown.
  package let finalChallengeMatches: Bool?
  /// Indicates whether its signature verifies; `nil` if the key is unknown.
  package let isSignatureValid: Bool?
  /// The reason why the verification key cannot be used.
  package let keyFailure: String?

  init(
    _ bytes: [UInt8], _ hash: [UInt8]?, _ key: InspectionKey?, isStrict: Bool
  ) throws(Inspection.Failure) {
    do throws(AssertionFailure) {
      content =
        bytes.starts(with: [0x02, 0x3E])
        ? .authentication(try AuthenticationAssertion(parsing: bytes))
        : .registration(try RegistrationAssertion(parsing: bytes))
    } catch {
      throw .assertion(error)
    }
    let claimedHash: [UInt8]
    switch content {
    case .registration(let assertion): claimedHash = assertion.data.finalChallengeHash
    case .authentication(let assertion): claimedHash = assertion.data.finalChallengeHash
    }
    finalChallengeMatches = hash.map { $0 == claimedHash }
    switch content {
    case .registration(let assertion):
      // The new key must be valid, independent of the signer.
      let data = assertion.data
      do throws(UAFKeyFailure) {
        let attestedKey = try UAFPublicKey(data.publicKey, format: data.keyFormat, for: data.algorithm)
        isSignatureValid = try assertion.isSigned(by: attestedKey, isStrict: isStrict)
        keyFailure = nil
      } catch {
        (isSignatureValid, keyFailure) = (false, error.description)
      }
    case .authentication(let assertion):
      guard let key else {
        (isSignatureValid, keyFailure) = (nil, nil)
        break
      }
      let algorithm = assertion.data.algorithm
      do throws(UAFKeyFailure) {
        isSignatureValid = try key.publicKey(for: algorithm).isValidSignature(
          assertion.signature, algorithm, of: assertion.bytes, in: assertion.signedRange, isStrict: isStrict)
        keyFailure = nil
      } catch {
        (isSignatureValid, keyFailure) = (false, key.description(of: error, for: algorithm))
      }
    }
  }

  /// Indicates whether it is a registration assertion.
  package var isRegistration: Bool {
    if case .registration = content { true } else { false }
  }

  var topTag: TLVTag { isRegistration ? .registrationAssertion : .authenticationAssertion }

  /// The reasons to reject the assertion; empty if there are none.
  package var objections: [String] {
    var objections: [String] = []
    if finalChallengeMatches == false {
      objections.append("the final challenge hash is not the SHA-256 digest of fcParams")
    }
    switch content {
    case .registration(let assertion):
      if assertion.data.mode != AuthenticationMode.userVerified.rawValue {
        objections.append("the authentication mode of a registration is \(assertion.data.mode), not 1")
      }
      if case .ecdaa = assertion.attestation {
        objections.append("ECDAA attestation is not supported")
        return objections
      }
    case .authentication(let assertion):
      let data = assertion.data
      switch AuthenticationMode(rawValue: data.mode) {
      case .userVerified:
        if !data.transactionHash.isEmpty {
          objections.append("there is a transaction hash, but the mode says that nothing was confirmed")
        }
      case .transactionConfirmed:
        if data.transactionHash.isEmpty {
          objections.append("the hash of the confirmed transaction is missing")
        }
      case nil: objections.append("the authentication mode is \(data.mode); 1 and 2 are known")
      }
    }
    if let keyFailure {
      objections.append(keyFailure)
    } else if isSignatureValid == false {
      objections.append("the signature is not valid")
    } else if isSignatureValid == nil {
      objections.append("the signature was not checked: the public key is not known")
    }
    return objections
  }
}

extension AssertionInspection {
  /// The claimed signature algorithm.
  package var algorithm: UAFAlgorithm {
    switch content {
    case .registration(let assertion): assertion.data.algorithm
    case .authentication(let assertion): assertion.data.algorithm
    }
  }

  /// The claimed authenticator model.
  package var aaid: AAID {
    switch content {
    case .registration(let assertion): assertion.data.aaid
    case .authentication(let assertion): assertion.data.aaid
    }
  }

  /// Returns the reasons to reject the assertion for a model; empty if there are none.
  ///
  /// - Parameters:
  ///   - model: The model's metadata.
  ///   - unixTime: The time at which certificates must be valid, in seconds since 1970.
  /// - Returns: One clause for each reason.
  package func objections(against model: AuthenticatorModel, at unixTime: Int64) -> [String] {
    let statement = model.statement
    guard aaid == statement.aaid else { return [AssertionRefusal.unknownModel(aaid).description] }
    var objections: [AssertionRefusal] = []
    switch content {
    case .registration(let assertion):
      let data = assertion.data
      if data.algorithm != statement.algorithm { objections.append(.algorithm(data.algorithm)) }
      if data.keyFormat != statement.keyFormat { objections.append(.keyFormat(data.keyFormat)) }
      do throws(AssertionRefusal) {
        try AuthenticatorModels([model]).check(assertion.attestation, of: model, at: unixTime)
      } catch {
        objections.append(error)
      }
    case .authentication(let assertion):
      let data = assertion.data
      if data.algorithm != statement.algorithm { objections.append(.algorithm(data.algorithm)) }
    }
    return objections.map(\.description)
  }
}
