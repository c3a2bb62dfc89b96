import SignetHTTPServer
import SignetJSON
import SignetProtocol
package import SignetStorage

/// The callers that an endpoint allows; the API description and the tests over all routes use it.
package enum Access: Hashable, Sendable {
  /// Any caller.
  case anybody
  /// Any caller from one of the operator's addresses.
  case operatorAddress
  /// A container in one of these states.
  case device(Set<ContainerRecord.State>)
  /// An API key of this scope.
  case key(APIKeyService.Scope)
  /// A client of OpenID Connect.
  case client
  /// A relying party, or a user with a token from a UAF operation.
  case uafManager
  /// A caller like ``uafManager``, or the user's device.
  case uafManagerOrDevice
  /// Any caller, or a relying party.
  case uafAnybody
  /// A UAF device, with a signed header field.
  case uafDevice
  /// A UAF device, with a signed body.
  case uafDeviceBody

  /// True if a caller may be anonymous or authenticates in the body.
  var isOpen: Bool { schemes.isEmpty || schemes.contains([]) }

  /// The ways to authenticate; one of them is enough.
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

/// A security scheme of OpenAPI.
package enum SecurityScheme: String, Hashable, Sendable {
  case device, relyingParty, admin, client, uafUser, uafCookie, uafDevice

  /// The scheme in the API description.
  var json: JSONObject {
    switch self {
    case .device:
      [
        "type": "apiKey", "in": "header", "name": "Authorization",
        "description":
          "`Signet` and a JWS over this request, signed with the container's session key: docs/protocol.md section 4.",
      ]
    case .relyingParty: Self.bearer("An API key of the scope `relying-party`.")
    case .admin: Self.bearer("An API key of the scope `admin`.")
    case .client:
      [
        "type": "http", "scheme": "basic",
        "description": "client_secret_basic; or private_key_jwt, in the form.",
      ]
    case .uafUser: Self.bearer("The JWT that a UAF operation returned.")
    case .uafCookie:
      [
        "type": "apiKey", "in": "cookie", "name": .string(UAFNames.cookie),
        "description": "The same JWT as a cookie.",
      ]
    case .uafDevice:
      [
        "type": "apiKey", "in": "header", "name": "Device-Signature",
        "description":
          "A compact JWS, signed with the key of a dispatch target: docs/protocol.md section 12.3.",
      ]
    }
  }

  private static func bearer(_ text: String) -> JSONObject {
    ["type": "http", "scheme": "bearer", "description": .string(text)]
  }
}

/// The services that authenticate callers.
///
/// It is a class because each request would otherwise copy it.
package final class CallerAuthentication: Sendable {
  let context: ServiceContext
  let keys: APIKeyService
  let devices: DeviceAuthentication
  let clients: ClientAuthentication
  /// The services for UAF callers; `nil` if UAF is not configured.
  let uaf: (authorizations: UAFAuthorizations, devices: UAFDevices)?

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

/// The way to authenticate a request, with the type of its caller.
package struct Credential<Caller: Sendable>: Sendable {
  package let access: Access
  /// Authenticates a request from memory, without waiting; returns `nil` if ``find`` is needed.
  var findInMemory: @Sendable (CallerAuthentication, ServerRequest) throws -> Caller? = { _, _ in nil }
  /// Authenticates a request, with reads from the storage.
  let find: @Sendable (CallerAuthentication, ServerRequest) async throws -> Caller
}

extension Credential where Caller == Void {
  /// No credential: any caller is allowed.
  package static let none = Credential(access: .anybody, findInMemory: { _, _ in }) { _, _ in }

  /// One of the operator's addresses.
  ///
  /// A proxy on the operator's machine has such an address for all its clients. A request with a header field that proxies
  /// add is therefore rejected.
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
  /// An operator's API key.
  package static let admin = key(.admin)
  /// A relying party's API key.
  package static let relyingParty = key(.relyingParty)

  private static func key(_ scope: APIKeyService.Scope) -> Credential {
    Credential(access: .key(scope)) { authentication, request in
      try await authentication.keys.key(authorization: request.headers["Authorization"], scope: scope)
    }
  }

  /// A relying party's API key as last seen; the storage step that changes something checks that it is still valid.
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
  package let container: ContainerRecord
  /// The id of the request, 16 bytes.
  package let request: [UInt8]
}

extension Credential where Caller == DeviceCaller {
  /// A request signed by an active container.
  package static let device = device(in: [.active])

  /// A request signed by an active container whose user may be suspended, for operations that refuse or attest.
  package static let deviceGrantingNothing = device(in: [.active], isGranting: false)

  /// A request signed by a container in one of these states.
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
  /// A request with a valid signature.
  ///
  /// The storage step that accepts it checks that the container is still active, and claims the request's id.
  static let signer = Credential(
    access: .device([.active]),
    findInMemory: { try $0.devices.signedInMemory($1) }, find: { try await $0.devices.signed($1) })
}

/// A client of OpenID Connect, with the form that it sent.
package struct ClientCaller: Sendable {
  let client: ClientRecord
  let form: FormParameters
}

extension Credential where Caller == ClientCaller {
  /// A client, authenticated by its registered method, in the header or in the form.
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
