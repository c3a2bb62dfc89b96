import SignetCrypto
import SignetOATH
import SignetSystem

extension PSKCKey {
  /// Returns the suite, challenge lengths and counter; rejects parameters that contradict the suite.
  ///
  /// - Throws: ``InterchangeFailure`` for a missing, malformed or contradicted suite.
  func challengeKind() throws(InterchangeFailure) -> OTPAccount.Kind {
    guard let suite, !suite.isEmpty else { throw .missing("suite") }
    let ocra: OCRASuite
    do throws(OCRAFailure) { ocra = try OCRASuite(suite.trimmed) } catch {
      throw .ocra(error)
    }
    guard responseLength ?? ocra.responseLength == ocra.responseLength else {
      throw .invalid("response", reason: "has another length than its suite says")
    }
    if let timeInterval, let step = ocra.timeStep, timeInterval != step {
      throw .invalid("TimeInterval", reason: "is another than its suite says")
    }
    if let challengeEncoding,
      InterchangeText.lowercased(challengeEncoding)
        != InterchangeText.lowercased(ocra.challengeFormat.encoding)
    {
      throw .invalid("challenge", reason: "is written in another way than its suite says")
    }
    guard !hasChallengeCheckDigits else {
      // RFC 6030 does not specify whether that digit is part of the response's input.
      throw .invalid("challenge", reason: "has a check digit, which is not supported")
    }
    return .ocra(ocra, lengths: try challengeLengths(ocra), counter: ocra.hasCounter ? counter ?? 0 : 0)
  }

  private func challengeLengths(_ suite: OCRASuite) throws(InterchangeFailure) -> ClosedRange<Int>? {
    guard challengeMinimum != nil || challengeMaximum != nil else { return nil }
    let minimum = max(challengeMinimum ?? 1, 1)
    let maximum = min(challengeMaximum ?? .max, suite.maximumChallengeLength)
    guard minimum <= maximum else {
      throw .invalid("challenge", reason: "has a length that its suite does not allow")
    }
    return minimum...maximum
  }

  /// Copies the parameters of a suite.
  mutating func setParameters(of ocra: OCRASuite, lengths: ClosedRange<Int>?) {
    suite = ocra.description
    (responseLength, responseEncoding) = (ocra.responseLength, ocra.responseEncoding)
    guard let lengths else { return }
    challengeEncoding = ocra.challengeFormat.encoding
    (challengeMinimum, challengeMaximum) = (lengths.lowerBound, lengths.upperBound)
  }
}

extension OCRASuite {
  /// The length of a response, in characters.
  fileprivate var responseLength: Int { digits > 0 ? digits : algorithm.hash.byteCount * 2 }

  /// The name in RFC 6030 for the encoding of a response.
  var responseEncoding: String { digits > 0 ? "DECIMAL" : "HEXADECIMAL" }
}

extension OCRAChallengeFormat {
  /// The name of the format in RFC 6030.
  fileprivate var encoding: String {
    switch self {
    case .alphanumeric: "ALPHANUMERIC"
    case .numeric: "DECIMAL"
    case .hexadecimal: "HEXADECIMAL"
    }
  }
}
