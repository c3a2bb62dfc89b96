public import SignetJSON

/// What is known of a device: the facts that account policies are evaluated over.
///
/// `nil` is what nobody could find out; a policy that needs it comes to no result. The JSON form leaves it out.
public struct AccountEvidence: Sendable, Hashable {
  /// Something that speaks for a device having been tampered with.
  public struct TamperFinding: Sendable, Hashable {
    /// What kind of thing was found, such as `debugger`.
    public var category: String
    /// How much it says, from 0 to 1.
    public var weight: Double
    /// What was found, in a sentence.
    public var explanation: String

    /// Names all three.
    public init(category: String, weight: Double, explanation: String) {
      (self.category, self.weight, self.explanation) = (category, weight, explanation)
    }
  }

  /// Whether a finger or a face can be matched now: there is a sensor, and somebody has enrolled.
  public var biometricAvailable: Bool?
  /// How much speaks for the device having been tampered with, from 0 to 1.
  public var tamperScore: Double?
  /// What speaks for it, the weightiest first.
  public var tamperFindings: [TamperFinding] = []
  /// The version of the app.
  public var appVersion: String?
  /// The operating system, in lower case, such as `linux` or `ios`.
  public var osName: String?
  /// The version of the operating system; on Linux that of the kernel.
  public var osVersion: String?
  /// Whether the device asks its user for a passcode.
  public var screenLock: Bool?
  /// Whether keys are made by hardware that does not let them out.
  public var hardwareKeystore: Bool?
  /// Whether that hardware is a program.
  public var isKeystoreSimulated: Bool?
  /// How long the account was not used, in seconds, 0 or more.
  public var secondsSinceUse: Int64?
  /// How long the server of the account was not reached, in seconds, 0 or more.
  public var secondsSinceContact: Int64?
  /// Whether the wall clock was set back since the account was used or its server reached.
  public var clockSetBack: Bool?
  /// How the app was built, such as `debug` or `release`.
  public var flavour: String?

  /// Nothing is known.
  public init() {}

  /// Takes over what another source knows, in the place of what is known so far.
  ///
  /// - Parameter other: What the other source knows; what it does not know stays as it is here.
  public mutating func merge(_ other: AccountEvidence) {
    biometricAvailable = other.biometricAvailable ?? biometricAvailable
    if let score = other.tamperScore { (tamperScore, tamperFindings) = (score, other.tamperFindings) }
    appVersion = other.appVersion ?? appVersion
    (osName, osVersion) = (other.osName ?? osName, other.osVersion ?? osVersion)
    screenLock = other.screenLock ?? screenLock
    hardwareKeystore = other.hardwareKeystore ?? hardwareKeystore
    isKeystoreSimulated = other.isKeystoreSimulated ?? isKeystoreSimulated
    secondsSinceUse = other.secondsSinceUse ?? secondsSinceUse
    secondsSinceContact = other.secondsSinceContact ?? secondsSinceContact
    clockSetBack = other.clockSetBack ?? clockSetBack
    flavour = other.flavour ?? flavour
  }

  private static let maximumFindingCount = 16
  private static let maximumExplanationCount = 200

  /// The JSON form, with at most 16 findings.
  public var json: JSONObject {
    var object = JSONObject()
    object["biometricAvailable"] = biometricAvailable.map { .bool($0) }
    // JSON has no way to write what is no number: nobody knows the score then.
    object["tamperScore"] = tamperScore.flatMap { $0.isFinite ? .number($0) : nil }
    if !tamperFindings.isEmpty {
      object["tamperFindings"] = .array(
        tamperFindings.prefix(Self.maximumFindingCount).map {
          .object([
            "category": .string($0.category), "weight": .number($0.weight.isFinite ? $0.weight : 1),
            "explanation": .string(String($0.explanation.prefix(Self.maximumExplanationCount))),
          ])
        })
    }
    object["appVersion"] = appVersion.map { .string($0) }
    object["osName"] = osName.map { .string($0) }
    object["osVersion"] = osVersion.map { .string($0) }
    object["screenLock"] = screenLock.map { .bool($0) }
    object["hardwareKeystore"] = hardwareKeystore.map { .bool($0) }
    object["isKeystoreSimulated"] = isKeystoreSimulated.map { .bool($0) }
    object["secondsSinceUse"] = secondsSinceUse.map { .integer($0) }
    object["secondsSinceContact"] = secondsSinceContact.map { .integer($0) }
    object["clockSetBack"] = clockSetBack.map { .bool($0) }
    object["flavour"] = flavour.map { .string($0) }
    return object
  }

  /// Reads the JSON form; members that are not known are ignored.
  ///
  /// - Throws: ``JSONFailure/wrongType(member:expected:)``. What has the right type and is out of range is kept: a policy that
  ///   needs it comes to no result.
  public init(_ object: JSONObject) throws(JSONFailure) {
    biometricAvailable = try object.optionalBool("biometricAvailable")
    if object.contains("tamperScore") { tamperScore = try object.number("tamperScore") }
    for finding in try object.optionalArray("tamperFindings") ?? [] {
      guard case .object(let finding) = finding else {
        throw .wrongType(member: "tamperFindings", expected: .object)
      }
      tamperFindings.append(
        TamperFinding(
          category: try finding.string("category"), weight: try finding.number("weight"),
          explanation: try finding.string("explanation")))
    }
    appVersion = try object.optionalString("appVersion")
    osName = try object.optionalString("osName")
    osVersion = try object.optionalString("osVersion")
    screenLock = try object.optionalBool("screenLock")
    hardwareKeystore = try object.optionalBool("hardwareKeystore")
    isKeystoreSimulated = try object.optionalBool("isKeystoreSimulated")
    secondsSinceUse = try object.optionalInteger("secondsSinceUse")
    secondsSinceContact = try object.optionalInteger("secondsSinceContact")
    clockSetBack = try object.optionalBool("clockSetBack")
    flavour = try object.optionalString("flavour")
  }
}
