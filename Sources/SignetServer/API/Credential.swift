import SignetHTTP
import SignetJSON
package import SignetStorage
import SignetWire

/// Who may send a request: what the description and the tests over all routes read.
package enum Access: Hashable, Sendable {
  /// Anybody.
  case anybody
  /// Anybody from the operator's addresses.
  case operatorAddress
  /// A container, in one of these states.
  case device(Set<ContainerRecord.State>)
  /// An API key of this scope.
  case key(APIKeyService.Scope)
  /// A client of OpenID Connect.
  case client
  /// A relying party, or a user after an operation of UAF.
  case uafManager
  /// As ``uafManager``, or the user's device.
  case uafManagerOrDevice
  /// Anybody or a relying party.
  case uafAnybody
  /// A device of UAF, by a header field.
  case uafDevice
  /// A device of UAF, by a body that it has signed.
  case uafDeviceBody

  /// Whether a request says who asks in its body, if at all.
  var isOpen: Bool { schemes.isEmpty || schemes.contains([]) }

  /// The ways to authenticate, one of which is enough.
  package var schemes: [[SecurityScheme]] {
    switch self {
    case .anybody, .operatorAddress, .uafDeviceBody: []
    case .device: [[.device]]
    case .key(.admin): [[.admin]]
    case .key(.relyingParty): [[.relyingParty]]
    case .client: [[.client], []]
    case .uafManager: [[.relyingParty], [.uafUser], [.uafCookie]]
    case .uafManagerOrDevice: [[.relyingParty], [.uafUser], [.uafCookie], [.uafDevice]]
    case .uafAnybody: [[], [.relyingParty]]
    case .uafDevice: [[.uafDevice]]
    }
  }
}

/// How a request is authenticated, in the words of OpenAPI.
package enum SecurityScheme: String, Hashable, Sendable {
  case device, relyingParty, admin, client, uafUser, uafCookie, uafDevice

  /// What the description says.
  var json: JSONObject {
    switch self {
    case .device:
      [
        "type": "apiKey", "in": "header", "name": "Authorization",
        "description":
          "`Signet` and a JWS by the session key of the container over this very request: docs/protocol.md section 4.",
      ]
    case .relyingParty: Self.bearer("An API key of the scope `relying-party`.")
    case .admin: Self.bearer("An API key of the scope `admin`.")
    case .client:
      [
        "type": "http", "scheme": "basic",
        "description": "client_secret_basic; or private_key_jwt, in the form.",
      ]
    case .uafUser: Self.bearer("The JWT that a UAF operation gave.")
    case .uafCookie:
      [
        "type": "apiKey", "in": "cookie", "name": .string(UAFNames.cookie),
        "description": "The same as a cookie.",
      ]
    case .uafDevice:
      [
        "type": "apiKey", "in": "header", "name": "Device-Signature",
        "description": "A compact JWS by the key of a dispatch target: docs/protocol.md section 12.3.",
      ]
    }
  }

  private static func bearer(_ text: String) -> JSONObject {
    ["type": "http", "scheme": "bearer", "description": .string(text)]
  }
}

/// The services that authenticate callers; a class, since each request would copy it.
package final class CallerAuthentication: Sendable {
  let context: ServiceContext
  let keys: APIKeyService
  let devices: DeviceAuthentication
  let clients: ClientAuthentication
  /// `nil` where UAF is not served.
  let uaf: (authorizations: UAFAuthorizations, devices: UAFDevices)?

  /// Over a context.
  package init(_ context: ServiceContext) {
    self.context = context
    (keys, devices) = (APIKeyService(context), DeviceAuthentication(context))
    clients = ClientAuthentication(context)
    uaf = context.uaf.map { [keys] setup in
      (
        UAFAuthorizations(context, keys, setup),
        UAFDevices(context, setup.settings, UAFTargets(context, setup.settings))
      )
    }
  }
}

/// What authenticates a request, and the type of its caller then.
package struct Credential<Caller: Sendable>: Sendable {
  /// Who may ask.
  package let access: Access
  /// Authenticates a request without waiting; `nil` where it takes ``find``.
  var findInMemory: @Sendable (CallerAuthentication, ServerRequest) throws -> Caller? = { _, _ in nil }
  /// Authenticates a request.
  let find: @Sendable (CallerAuthentication, ServerRequest) async throws -> Caller
}

extension Credential where Caller == Void {
  /// No credential: anybody may ask.
  package static let none = Credential(access: .anybody, findInMemory: { _, _ in }) { _, _ in }

  /// An address of the operator's.
  ///
  /// A proxy on the operator's machine has such an address too, whoever asks through it: what a proxy has passed on is refused.
  package static let operatorAddress = Credential(access: .operatorAddress) { authentication, request in
    guard authentication.context.settings.operatorAddresses.contains(request.remoteAddress),
      !request.headers.fields.contains(where: { isAddedByProxies($0.name.lowercased()) })
    else { throw Problem(RequestRefusal.notFound) }
  }

  private static func isAddedByProxies(_ field: String) -> Bool {
    ["forwarded", "via", "x-real-ip"].contains(field) || field.hasPrefix("x-forwarded-")
  }
}

extension Credential where Caller == APIKeyRecord {
  /// An operator's key.
  package static let admin = key(.admin)
  /// A relying party's key.
  package static let relyingParty = key(.relyingParty)

  private static func key(_ scope: APIKeyService.Scope) -> Credential {
    Credential(access: .key(scope)) { authentication, request in
      try await authentication.keys.key(authorization: request.headers["Authorization"], scope: scope)
    }
  }

  /// A relying party's key as it was when it was seen last: the step that changes something checks that it is still valid.
  package static let seenRelyingParty = Credential(
    access: .key(.relyingParty),
    findInMemory: { authentication, request in
      try authentication.keys.keyInMemory(
        authorization: request.headers["Authorization"], scope: .relyingParty)
    },
    find: { authentication, request in
      try await authentication.keys.seenKey(
        authorization: request.headers["Authorization"], scope: .relyingParty)
    })
}

/// A container that has signed a request.
package struct DeviceCaller: Sendable {
  /// The container.
  package let container: ContainerRecord
  /// The id of the request, 16 bytes.
  package let request: [UInt8]
}

extension Credential where Caller == DeviceCaller {
  /// A request that an active container has signed.
  package static let device = device(in: [.active])

  /// A request that an active container has signed, also where its user is suspended: for what refuses or attests.
  package static let deviceGrantingNothing = device(in: [.active], isGranting: false)

  /// A request that a container in one of these states has signed.
  package static func device(
    in states: Set<ContainerRecord.State>, isGranting: Bool = true
  ) -> Credential {
    Credential(access: .device(states)) { authentication, request in
      try await authentication.devices.request(
        authorization: request.headers["Authorization"], method: request.method, path: request.path.raw,
        body: request.body, states: states, isGranting: isGranting)
    }
  }
}

extension Credential where Caller == DeviceAuthentication.Signed {
  /// A request with a valid signature: the step that accepts it checks that its container is still active, and uses up its id.
  static let signer = Credential(
    access: .device([.active]),
    findInMemory: { try $0.devices.signedInMemory($1) }, find: { try await $0.devices.signed($1) })
}

/// A client of OpenID Connect, and the form that it has sent.
package struct ClientCaller: Sendable {
  let client: ClientRecord
  let form: FormParameters
}

extension Credential where Caller == ClientCaller {
  /// A client, authenticated as it was registered: in the header or in the form.
  static let client = Credential(access: .client) { authentication, request in
    let form = try FormParameters(contentType: request.headers["Content-Type"], body: request.body)
    guard request.headers.values(for: "Authorization").count <= 1 else {
      throw OpenIDFailure.twoAuthentications
    }
    let client = try await authentication.clients.client(
      authorization: request.headers["Authorization"], form: form)
    return ClientCaller(client: client, form: form)
  }
}
