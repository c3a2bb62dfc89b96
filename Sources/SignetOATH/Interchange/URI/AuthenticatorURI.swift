public import SignetCrypto
public import SignetJSON

/// The URIs by which authenticators take over an account: `otpauth`, and `pushauth` and `mfauth` of Ping.
///
/// Reading is lenient: scheme, type and names of parameters in either case; secrets with spaces, hyphens and padding or
/// without; Base64 in either alphabet, or none where text was meant; unknown parameters are kept. Where the label and the
/// parameter name different issuers, the label's counts, and the other is kept.
public struct AuthenticatorURI: Sendable {
  /// What a URI is about.
  public enum Scheme: String, Sendable, Hashable, CaseIterable {
    /// One-time codes.
    case otpauth
    /// Push messages.
    case pushauth
    /// Both.
    case mfauth
  }

  /// The half for one-time codes.
  public struct OATH: Sendable {
    /// What a code is made from beside the secret.
    public var kind: OTPAccount.Kind
    /// The hash function.
    public var algorithm: OATHAlgorithm
    /// The length of a code.
    public var digits: Int
    /// The secret.
    public var secret: SharedSecretBox

    /// Names all parts.
    public init(kind: OTPAccount.Kind, algorithm: OATHAlgorithm, digits: Int, secret: SharedSecretBox) {
      (self.kind, self.algorithm, self.digits, self.secret) = (kind, algorithm, digits, secret)
    }
  }

  /// The half for push messages.
  public struct Push: Sendable {
    /// Where the device registers: a URL.
    public var registrationEndpoint: String
    /// Where the device answers: a URL.
    public var authenticationEndpoint: String
    /// The key of the message authentication codes.
    public var sharedSecret: SharedSecretBox
    /// What the registration answers.
    public var challenge: [UInt8]?
    /// A cookie for the server's load balancer.
    public var loadBalancer: String?
    /// The name of the registration.
    public var messageID: String?

    /// Names all parts.
    public init(
      registrationEndpoint: String, authenticationEndpoint: String, sharedSecret: SharedSecretBox,
      challenge: [UInt8]? = nil, loadBalancer: String? = nil, messageID: String? = nil
    ) {
      (self.registrationEndpoint, self.authenticationEndpoint) = (
        registrationEndpoint, authenticationEndpoint
      )
      (self.sharedSecret, self.challenge) = (sharedSecret, challenge)
      (self.loadBalancer, self.messageID) = (loadBalancer, messageID)
    }
  }

  /// The longest URI, in bytes.
  public static let maximumByteCount = 16_384
  /// The longest value of a parameter, in bytes; where it is Base64, what it encodes has at most half as many.
  public static let maximumParameterByteCount = 8192
  /// The longest issuer, account, user id, device id and message id, in bytes of UTF-8.
  public static let maximumNameByteCount = 1024
  /// The most parameters.
  public static let maximumParameterCount = 64

  /// What it is about.
  public var scheme: Scheme
  /// Who the account is with: the label's, else the parameter's.
  public var issuer: String
  /// Whose account it is.
  public var account: String
  /// The parameter's issuer where it is another than the label's; show both.
  public var otherIssuer: String?
  /// One-time codes; always there in `otpauth`, and in an `mfauth` URI that an account is enrolled by.
  public var oath: OATH?
  /// Push messages; always there in `pushauth`, and in an `mfauth` URI that an account is enrolled by.
  public var push: Push?
  /// Where a picture is.
  public var image: String?
  /// A colour, without a number sign.
  public var backgroundColor: String?
  /// The account policies.
  public var policies: JSONObject?
  /// The server's name of the user.
  public var userID: String?
  /// The server's name of the device.
  public var resourceID: String?
  /// Parameters that have no meaning here, in order.
  public var others: [(name: String, value: String)]

  /// Names all parts.
  public init(
    scheme: Scheme, issuer: String, account: String, otherIssuer: String? = nil, oath: OATH? = nil,
    push: Push? = nil, image: String? = nil, backgroundColor: String? = nil, policies: JSONObject? = nil,
    userID: String? = nil, resourceID: String? = nil, others: [(name: String, value: String)] = []
  ) {
    (self.scheme, self.issuer, self.account, self.otherIssuer) = (scheme, issuer, account, otherIssuer)
    (self.oath, self.push, self.image, self.backgroundColor) = (oath, push, image, backgroundColor)
    (self.policies, self.userID, self.resourceID, self.others) = (policies, userID, resourceID, others)
  }
}

extension AuthenticatorURI: CustomStringConvertible, CustomReflectable {
  /// The scheme alone: the rest holds a secret.
  public var description: String { "\(scheme.rawValue) URI" }

  /// No parts, so that a dump does not show a secret.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
