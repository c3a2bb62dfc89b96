import SignetHTTP
import SignetJSON
package import SignetStorage
import SignetWire

/// Who may ask, as the description and the tests over all routes have it.
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
  /// As ``uafManagerOrDevice``, with the device first.
  case uafDeviceOrManager
  /// Anybody or a relying party.
  case uafAnybody
  /// A relying party, in the words of UAF.
  case uafRelyingParty
  /// A device of UAF, by a header field.
  case uafDevice
  /// A device of UAF, by a body that it has signed.
  case uafDeviceBody

  /// The ways to show who one is: one of them is enough.
  package var schemes: [[SecurityScheme]] {
    switch self {
    case .anybody, .operatorAddress, .uafDeviceBody: []
    case .device: [[.device]]
    case .key(.admin): [[.admin]]
    case .key(.relyingParty), .uafRelyingParty: [[.relyingParty]]
    case .client: [[.client], []]
    case .uafManager: [[.relyingParty], [.uafUser], [.uafCookie]]
    case .uafManagerOrDevice: [[.relyingParty], [.uafUser], [.uafCookie], [.uafDevice]]
    case .uafDeviceOrManager: [[.uafDevice], [.relyingParty], [.uafUser], [.uafCookie]]
    case .uafAnybody: [[], [.relyingParty]]
    case .uafDevice: [[.uafDevice]]
    }
  }
}

/// How a request shows who sends it.
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

/// What callers are known by.
package struct Authentication: Sendable {
  let context: ServiceContext
  let keys: APIKeyService
  let devices: DeviceAuthentication
  let clients: ClientAuthentication
  /// Where UAF is served.
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

/// What a request has to show, and who it comes from then.
package struct Credential<Caller: Sendable>: Sendable {
  /// Who may ask.
  package let access: Access
  /// Finds out who asks, without waiting; `nil` where ``find`` has to look.
  var findInMemory: @Sendable (Authentication, ServerRequest) throws -> Caller? = { _, _ in nil }
  /// Finds out who asks.
  let find: @Sendable (Authentication, ServerRequest) async throws -> Caller
}

extension Credential where Caller == Void {
  /// Nothing: anybody may ask.
  package static let none = Credential(access: .anybody, findInMemory: { _, _ in }) { _, _ in }

  /// An address of the operator's.
  ///
  /// A proxy on the operator's machine has an address of the operator's, whoever asks through it, so that what it says to have passed
  /// on is not answered.
  package static let operatorAddress = Credential(access: .operatorAddress) { authentication, request in
    guard authentication.context.settings.operatorAddresses.contains(request.remoteAddress),
      ["Forwarded", "X-Forwarded-For", "Via"].allSatisfy({ request.headers[$0] == nil })
    else { throw Problem(RequestRefusal.notFound) }
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

  /// A relying party's key as it was when it was seen last: the step that changes something checks that it is good still.
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

/// A container, and the id of the request that it has signed.
package struct DeviceCaller: Sendable {
  /// The container.
  package let container: ContainerRecord
  /// 16 bytes.
  package let request: [UInt8]
}

extension Credential where Caller == DeviceCaller {
  /// A request that an active container has signed.
  package static let device = device(in: [.active])

  /// A request that a container in one of these states has signed.
  package static func device(in states: Set<ContainerRecord.State>) -> Credential {
    Credential(access: .device(states)) { authentication, request in
      let (container, id) = try await authentication.devices.request(
        authorization: request.headers["Authorization"], method: request.method, path: request.path.raw,
        body: request.body, states: states)
      return DeviceCaller(container: container, request: id)
    }
  }
}

extension Credential where Caller == DeviceAuthentication.Signed {
  /// A request whose signature is good: the step that takes it checks that its container is active still, and uses its id up.
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
  /// A client, as it was registered to show who it is: in the head or in the form.
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
