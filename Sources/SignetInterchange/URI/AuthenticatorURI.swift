public import SignetCrypto
public import SignetJSON
public import SignetOATH

/// A URI with which authenticators enrol an account: `otpauth`, and `pushauth` and `mfauth` of Ping.
///
/// Parsing is lenient. Scheme, type and parameter names are case-insensitive. Secrets may have spaces, hyphens and padding.
/// Base64 may use either alphabet, and a text may be plain instead. Unknown parameters are kept. If the label and the
/// parameter name different issuers, the label's counts and the other one is kept.
public struct AuthenticatorURI: Sendable {
  /// The purpose of a URI.
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
    /// The moving factor of the codes.
    public var kind: OTPAccount.Kind
    /// The hash function.
    public var algorithm: OATHAlgorithm
    /// The length of a code.
    public var digits: Int
    /// The secret.
    public var secret: SharedSecretBox

    /// Creates a value with all parts.
    public init(kind: OTPAccount.Kind, algorithm: OATHAlgorithm, digits: Int, secret: SharedSecretBox) {
      self.kind = kind
      self.algorithm = algorithm
      self.digits = digits
      self.secret = secret
    }
  }

  /// The half for push messages.
  public struct Push: Sendable {
    /// The URL at which the device registers.
    public var registrationEndpoint: String
    /// The URL to which the device sends its answers.
    public var authenticationEndpoint: String
    /// The key of the MACs.
    public var sharedSecret: SharedSecretBox
    /// The challenge that the registration answers.
    public var challenge: [UInt8]?
    /// A cookie for the server's load balancer.
    public var loadBalancer: String?
    /// The id of the registration message.
    public var messageID: String?

    /// Creates a value with all parts.
    public init(
      registrationEndpoint: String, authenticationEndpoint: String, sharedSecret: SharedSecretBox,
      challenge: [UInt8]? = nil, loadBalancer: String? = nil, messageID: String? = nil
    ) {
      self.registrationEndpoint = registrationEndpoint
      self.authenticationEndpoint = authenticationEndpoint
      self.sharedSecret = sharedSecret
      self.challenge = challenge
      self.loadBalancer = loadBalancer
      self.messageID = messageID
    }
  }

  /// The longest URI, in bytes.
  public static let maximumByteCount = 16_384
  /// The longest value of a parameter, in bytes; a value in Base64 may encode at most half as many.
  public static let maximumParameterByteCount = 8192
  /// The longest issuer, account, user id, device id and message id, in bytes of UTF-8.
  public static let maximumNameByteCount = 1024
  /// The largest number of parameters.
  public static let maximumParameterCount = 64

  /// The purpose of the URI.
  public var scheme: Scheme
  /// The issuer of the account: from the label, or else from the parameter.
  public var issuer: String
  /// The name of the account.
  public var account: String
  /// The parameter's issuer if it differs from the label's; an app should display both.
  public var otherIssuer: String?
  /// The half for one-time codes; present in `otpauth`, and in an `mfauth` URI that enrols an account.
  public var oath: OATH?
  /// The half for push messages; present in `pushauth`, and in an `mfauth` URI that enrols an account.
  public var push: Push?
  /// The URL of a picture.
  public var image: String?
  /// A color without the number sign.
  public var backgroundColor: String?
  /// The account policies.
  public var policies: JSONObject?
  /// The server's id of the user.
  public var userID: String?
  /// The server's id of the device.
  public var resourceID: String?
  /// The parameters that Signet does not interpret, in order.
  public var others: [(name: String, value: String)]

  /// Creates a URI with all parts.
  public init(
    scheme: Scheme, issuer: String, account: String, otherIssuer: String? = nil, oath: OATH? = nil,
    push: Push? = nil, image: String? = nil, backgroundColor: String? = nil, policies: JSONObject? = nil,
    userID: String? = nil, resourceID: String? = nil, others: [(name: String, value: String)] = []
  ) {
    self.scheme = scheme
    self.issuer = issuer
    self.account = account
    self.otherIssuer = otherIssuer
    self.oath = oath
    self.push = push
    self.image = image
    self.backgroundColor = backgroundColor
    self.policies = policies
    self.userID = userID
    self.resourceID = resourceID
    self.others = others
  }
}

extension AuthenticatorURI: CustomStringConvertible, CustomReflectable {
  /// The scheme alone: the rest contains a secret.
  public var description: String { "\(scheme.rawValue) URI" }

  /// An empty mirror, so that a dump does not show a secret.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
