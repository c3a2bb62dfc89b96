#if os(Linux)
  public import SignetVault

  /// The address of a TPM.
  public enum TPMAddress: Sendable, Hashable, CustomStringConvertible {
    /// A character device: `/dev/tpmrm0` has a resource manager and serves many programs at once, `/dev/tpm0` one.
    case device(path: String)
    /// A swtpm that listens on a TCP port, which serves one program at a time.
    case swtpm(host: String, port: UInt16)
    /// A swtpm that listens on a Unix socket, which serves one program at a time.
    case swtpmSocket(path: String)

    /// The device that Linux provides for ordinary programs.
    public static let standard = TPMAddress.device(path: "/dev/tpmrm0")

    /// Parses an address in the syntax of the tpm2-tss tools.
    ///
    /// - Parameter text: `device:/dev/tpmrm0`, `swtpm:host=127.0.0.1,port=2321` or `swtpm:path=/run/swtpm.sock`. The host is
    ///   an IP address or `localhost`.
    /// - Throws: ``SignetVault/KeystoreFailure/invalidAddress(_:)``.
    public init(_ text: String) throws(KeystoreFailure) {
      guard let address = Self.parse(text) else { throw .invalidAddress(text) }
      self = address
    }

    /// The address in the syntax that ``init(_:)`` parses.
    public var description: String {
      switch self {
      case .device(let path): "device:\(path)"
      case .swtpm(let host, let port): "swtpm:host=\(host),port=\(port)"
      case .swtpmSocket(let path): "swtpm:path=\(path)"
      }
    }

    /// True if a resource manager gives each program a virtual TPM and flushes its objects.
    var hasResourceManager: Bool {
      guard case .device(let path) = self else { return false }
      return path.split(separator: "/").last?.hasPrefix("tpmrm") ?? false
    }

    private static func parse(_ text: String) -> TPMAddress? {
      guard !text.utf8.contains(0), let colon = text.firstIndex(of: ":") else { return nil }
      let rest = text[text.index(after: colon)...]
      switch text[..<colon] {
      case "device": return rest.hasPrefix("/") ? .device(path: String(rest)) : nil
      case "swtpm": return swtpm(rest)
      default: return nil
      }
    }

    private static func swtpm(_ rest: Substring) -> TPMAddress? {
      var settings: [Substring: Substring] = [:]
      for setting in rest.split(separator: ",", omittingEmptySubsequences: false) {
        guard let equals = setting.firstIndex(of: "=") else { return nil }
        let value = setting[setting.index(after: equals)...]
        guard !value.isEmpty, settings.updateValue(value, forKey: setting[..<equals]) == nil else {
          return nil
        }
      }
      if settings.count == 1, let path = settings["path"], path.hasPrefix("/") {
        return .swtpmSocket(path: String(path))
      }
      guard settings.count == 2, let host = settings["host"],
        let port = settings["port"].flatMap({ UInt16($0) }),
        port > 0
      else { return nil }
      return .swtpm(host: String(host), port: port)
    }
  }
#endif
