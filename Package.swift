// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target: Swift 6 mode comes from `swiftLanguageModes` below.
let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

/// The settings of targets that call C: every unsafe expression is marked `unsafe`.
let facingC: [SwiftSetting] = house + [.strictMemorySafety()]

/// A back end of Linux: other platforms build without it.
func onLinux(_ name: String) -> Target.Dependency {
  .target(name: name, condition: .when(platforms: [.linux]))
}

let package = Package(
  name: "signet",
  platforms: [.macOS(.v26), .iOS(.v26)],
  products: [
    // What an app takes: codes and approvals, then the platform's back ends and the parts that it uses.
    .library(name: "Signet", targets: ["Signet"]),
    .library(name: "SignetLinux", targets: ["SignetLinux"]),
    .library(name: "SignetUAFClient", targets: ["SignetUAFClient"]),
    .library(name: "SignetIntegrity", targets: ["SignetIntegrity"]),
    .library(name: "SignetAgent", targets: ["SignetAgent"]),
    .library(name: "SignetTesting", targets: ["SignetTesting"]),
    .library(name: "SignetServerTesting", targets: ["SignetServerTesting"]),
    .library(name: "SignetImages", targets: ["SignetImages"]),
    .library(name: "SignetUAF", targets: ["SignetUAF"]),
    // Not for apps: Fuzz, a package of its own, reads the operator's files by it.
    .library(name: "SignetDataDirectory", targets: ["SignetDataDirectory"]),
    .executable(name: "signet", targets: ["signet-cli"]),
    .executable(name: "signet-server", targets: ["signet-server"]),
    .executable(name: "signet-manifest", targets: ["signet-manifest"]),
    .executable(name: "signet-check", targets: ["signet-check"]),
  ],
  targets: [
    // MARK: C: libraries of the system, and a few lines of our own
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CPwquality", pkgConfig: "pwquality", providers: [.apt(["libpwquality-dev"])]),
    .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    .systemLibrary(name: "CZBar", pkgConfig: "zbar", providers: [.apt(["libzbar-dev"])]),
    .systemLibrary(name: "CTPM2", pkgConfig: "tss2-sys", providers: [.apt(["libtss2-dev"])]),
    .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .systemLibrary(name: "CPAM", pkgConfig: "pam", providers: [.apt(["libpam0g-dev"])]),
    .systemLibrary(name: "CUnistring", providers: [.apt(["libunistring-dev"])]),
    .systemLibrary(name: "CLibPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
    .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CLinuxProcess"),
    .systemLibrary(name: "CSpawn"),
    // The public key of the release that a program belongs to, set at build time.
    .target(name: "CReleaseKey"),
    // Closes the memory of our programs and cleans their environment before a library's code runs.
    .target(name: "CProgramStart"),
    // The `free` of `signet`, which wipes (docs/decisions/0208-freed-memory-is-wiped.md).
    .target(name: "CWipingFree"),
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),

    // Ends a test process without the clean-up of libraries that its tasks may still use.
    .target(name: "CTestExit"),

    // MARK: Base: knows nothing of devices and servers
    // Private files, threads for blocking work, text for terminals, Unicode, the clock.
    .target(name: "SignetSystem", dependencies: [onLinux("CUnistring")], swiftSettings: facingC),
    // Hashes, HMAC, HKDF, AES, Argon2id, P-256, RSA, certificates, random bytes, Base32 and Base64, `SecretBytes`.
    .target(name: "SignetCrypto", dependencies: ["CArgon2", "COpenSSL"], swiftSettings: facingC),
    // Strict JSON: reader, printer, values.
    .target(name: "SignetJSON", dependencies: ["SignetSystem"], swiftSettings: house),
    // Typed ids, so that the id of one kind cannot be used for another.
    .target(
      name: "SignetIdentifiers", dependencies: ["SignetCrypto", "SignetSystem"], swiftSettings: house),
    // JWK, JWS, JWE, JWT.
    .target(name: "SignetJOSE", dependencies: ["SignetCrypto", "SignetJSON"], swiftSettings: house),
    // QR codes, read and written, and PNG within bounds.
    .target(
      name: "SignetImages",
      dependencies: ["CPNG", "CQREncode", "CZBar", "SignetSystem"],
      swiftSettings: facingC),
    // One connection to an SQLite file: statements, transactions, migrations.
    .target(name: "SignetSQLite", dependencies: ["CSQLite", "SignetSystem"], swiftSettings: facingC),
    // Steps on SQLite or PostgreSQL: one connection type, one text of SQL, schemas.
    .target(
      name: "SignetSQL", dependencies: ["CPostgreSQL", "CSQLite", "SignetSystem"], swiftSettings: facingC),
    // `HTTPTransport` and its libcurl back end; https URLs.
    .target(name: "SignetHTTPClient", dependencies: ["CCurl"], swiftSettings: facingC),
    // HTTPS over libmicrohttpd: async and direct handlers, limits, router.
    .target(name: "SignetHTTPServer", dependencies: ["CMicroHTTPD", "SignetSystem"], swiftSettings: facingC),
    // Command lines as data: parsing, help, manual, completion, prompts without echo.
    .target(name: "SignetTerminal", dependencies: ["SignetSystem"], swiftSettings: facingC),

    // MARK: Shared by device and server: codes, formats, policies, guards, messages
    // HOTP, TOTP and its window, OCRA.
    .target(
      name: "SignetOATH", dependencies: ["SignetCrypto"], swiftSettings: house),
    // Files and URIs in which authenticators exchange accounts.
    .target(
      name: "SignetInterchange",
      dependencies: ["CLibXML2", "SignetCrypto", "SignetJSON", "SignetOATH", "SignetSystem"],
      swiftSettings: house),
    // Protection, password, lock and account policies: text and JSON forms, linter, evaluation.
    .target(
      name: "SignetPolicy", dependencies: ["SignetCrypto", "SignetJSON", "SignetSystem"], swiftSettings: house
    ),
    // Tamper guards, evidence, scores and reactions; the manifest of a release; hardening of processes.
    .target(
      name: "SignetIntegrity",
      dependencies: [
        onLinux("CLinuxProcess"), "CReleaseKey", "SignetCrypto", "SignetJOSE", "SignetJSON", "SignetSystem",
      ], swiftSettings: facingC),
    // FIDO UAF 1.1, both sides: messages, assertions, policies, facets, metadata, verification of responses.
    .target(
      name: "SignetUAF",
      dependencies: [
        "CLibPSL", "SignetCrypto", "SignetHTTPClient", "SignetIdentifiers", "SignetImages", "SignetJSON",
      ], swiftSettings: facingC),
    // The push protocol of authenticator apps, both sides.
    .target(
      name: "SignetPushAuth",
      dependencies: ["SignetCrypto", "SignetHTTPClient", "SignetJOSE", "SignetJSON", "SignetSystem"],
      swiftSettings: house),
    // All messages between device, server and relying party.
    .target(
      name: "SignetProtocol",
      dependencies: [
        "SignetCrypto", "SignetHTTPClient", "SignetIdentifiers", "SignetJOSE", "SignetJSON", "SignetOATH",
        "SignetPolicy", "SignetSystem",
      ], swiftSettings: house),

    // MARK: The device: the vault, the SDK, back ends of Linux, the agent
    // Containers, protection domains, slots, attempts, the seam of keystores.
    .target(
      name: "SignetVault",
      dependencies: ["SignetCrypto", "SignetJSON", "SignetPolicy", "SignetSQLite", "SignetSystem"],
      swiftSettings: house),
    // The SDK: activation, codes, transactions, pushes, imported accounts.
    .target(
      name: "Signet",
      dependencies: [
        "SignetCrypto", "SignetHTTPClient", "SignetIdentifiers", "SignetIntegrity", "SignetInterchange",
        "SignetJSON", "SignetOATH", "SignetPolicy", "SignetProtocol", "SignetPushAuth", "SignetSystem",
        "SignetVault",
      ], swiftSettings: house),
    // The UAF client and its authenticators on a device.
    .target(
      name: "SignetUAFClient",
      dependencies: [
        "Signet", "SignetCrypto", "SignetHTTPClient", "SignetIdentifiers", "SignetJOSE", "SignetJSON",
        "SignetPolicy",
        "SignetProtocol", "SignetSystem", "SignetUAF", "SignetVault",
      ], swiftSettings: house),
    // A TPM 2.0 as a keystore.
    .target(
      name: "SignetTPM", dependencies: [onLinux("CTPM2"), "SignetCrypto", "SignetSystem", "SignetVault"],
      swiftSettings: facingC),
    // The back ends of Linux, which an app chooses: TPM, fprintd, PAM, logind, notifications, dictionary.
    .target(
      name: "SignetLinux",
      dependencies: [
        "CPAM", "CPwquality", "CSystemd", "SignetCrypto", "SignetPolicy", "SignetSystem",
        "SignetTPM", "SignetVault",
      ], swiftSettings: facingC),
    // The agent that shares sessions among the apps of a user, and its client.
    .target(
      name: "SignetAgent",
      dependencies: [
        "Signet", "SignetCrypto", "SignetIntegrity", "SignetJSON", "SignetSystem", "SignetVault",
      ], swiftSettings: facingC),

    // MARK: The server: rules and rows, services behind HTTPS, push dispatchers, the data folder
    // Dispatchers to Apple, Google, Web Push and a webhook.
    .target(
      name: "SignetPush",
      dependencies: [
        "SignetCrypto", "SignetHTTPClient", "SignetJOSE", "SignetJSON", "SignetProtocol", "SignetSystem",
      ], swiftSettings: house),
    // Rules, rows and steps of the server's state; the events of the audit log.
    .target(
      name: "SignetStorage",
      dependencies: [
        "SignetCrypto", "SignetIdentifiers", "SignetJSON", "SignetSQL", "SignetSQLite", "SignetSystem",
      ], swiftSettings: house),
    // Services and endpoints.
    .target(
      name: "SignetServer",
      dependencies: [
        "SignetCrypto", "SignetHTTPClient", "SignetHTTPServer", "SignetImages", "SignetIntegrity",
        "SignetInterchange", "SignetJOSE", "SignetJSON", "SignetOATH", "SignetPolicy", "SignetProtocol",
        "SignetPush", "SignetPushAuth", "SignetStorage", "SignetSystem", "SignetUAF",
      ], swiftSettings: house),
    // The data folder of `signet-server`: settings, keys, certificates, reload.
    .target(
      name: "SignetDataDirectory",
      dependencies: [
        "SignetCrypto", "SignetHTTPClient", "SignetHTTPServer", "SignetIntegrity", "SignetJSON",
        "SignetPolicy", "SignetProtocol", "SignetPush", "SignetServer", "SignetStorage", "SignetSystem",
        "SignetUAF",
      ], swiftSettings: house),

    // MARK: Commands: the programs
    // The command `signet`.
    .executableTarget(
      name: "signet-cli",
      dependencies: [
        "CProgramStart", "CWipingFree", "Signet", "SignetAgent", "SignetCrypto", "SignetImages",
        "SignetIntegrity", "SignetJSON", onLinux("SignetLinux"), "SignetPolicy", "SignetSystem",
        "SignetTerminal", "SignetUAFClient",
      ], swiftSettings: house),
    // The command `signet-server`.
    .executableTarget(
      name: "signet-server",
      dependencies: [
        "CProgramStart", "SignetCrypto", "SignetDataDirectory", "SignetHTTPClient", "SignetHTTPServer",
        "SignetImages", "SignetIntegrity", "SignetInterchange", "SignetJSON", "SignetOATH", "SignetPolicy",
        "SignetProtocol", "SignetServer", "SignetStorage", "SignetSystem", "SignetTerminal", "SignetUAF",
      ], swiftSettings: house),
    // The command `signet-manifest`, which signs a release.
    .executableTarget(
      name: "signet-manifest",
      dependencies: ["CProgramStart", "SignetCrypto", "SignetIntegrity", "SignetSystem", "SignetTerminal"],
      swiftSettings: house),
    // The command `signet-check`: foreign vectors through the pure cores.
    .executableTarget(
      name: "signet-check",
      dependencies: [
        "SignetCrypto", "SignetInterchange", "SignetJOSE", "SignetJSON", "SignetOATH", "SignetPolicy",
        "SignetProtocol",
        "SignetPushAuth", "SignetUAF",
      ], swiftSettings: house),

    // MARK: For tests: the kit knows neither device nor server, the doubles no server
    // Temporary folders, seeded randomness, a virtual clock, child processes, a private PostgreSQL server, memory search.
    .target(
      name: "SignetTestKit", dependencies: [onLinux("CSpawn"), "CTestExit", "SignetCrypto"],
      swiftSettings: house),
    // Doubles for a device: hardware, biometrics, passcode, screen lock, clocks; the contract of keystores.
    .target(
      name: "SignetTesting",
      dependencies: [
        "Signet", "SignetCrypto", "SignetPolicy", "SignetProtocol", "SignetSystem", "SignetTestKit",
        "SignetVault",
      ], swiftSettings: house),
    // A server in the process of a test; the contract of storage.
    .target(
      name: "SignetServerTesting",
      dependencies: [
        "SignetCrypto", "SignetHTTPClient", "SignetHTTPServer", "SignetPolicy", "SignetProtocol",
        "SignetServer", "SignetSQLite", "SignetStorage", "SignetSystem", "SignetTestKit",
      ], swiftSettings: house),
    .target(name: "AccountModel", path: "Tests/AccountModel", swiftSettings: house),
    .target(
      name: "BusFixture", dependencies: ["SignetLinux", "SignetTestKit"], path: "Tests/BusFixture",
      swiftSettings: house),
    .target(
      name: "PostgreSQLFixture", dependencies: ["SignetSQL", "SignetStorage", "SignetTestKit"],
      path: "Tests/PostgreSQLFixture", swiftSettings: house),
    .target(
      name: "PushFixture", dependencies: ["SignetCrypto", "SignetHTTPClient", "SignetJSON", "SignetTestKit"],
      path: "Tests/PushFixture", swiftSettings: house),
    .target(
      name: "UAFFixture", dependencies: ["COpenSSL", "SignetCrypto", "SignetUAF"], path: "Tests/UAFFixture",
      swiftSettings: facingC),
    .executableTarget(
      name: "IntegrityVictim", dependencies: ["SignetCrypto", "SignetIntegrity", "SignetJSON"],
      path: "Tests/IntegrityVictim", swiftSettings: house),
    .executableTarget(
      name: "SQLVictim", dependencies: ["SignetSQL", "SignetSystem"], path: "Tests/SQLVictim",
      swiftSettings: house),
    .executableTarget(
      name: "VaultVictim", dependencies: ["SignetCrypto", "SignetVault"], path: "Tests/VaultVictim",
      swiftSettings: house),

    // MARK: Tests; vectors that are ours to keep lie beside them
    .testTarget(name: "SignetTestKitTests", dependencies: ["SignetTestKit"], swiftSettings: house),
    .testTarget(
      name: "SignetSystemTests", dependencies: ["SignetCrypto", "SignetSystem", "SignetTestKit"],
      swiftSettings: house),
    .testTarget(
      name: "SignetCryptoTests", dependencies: ["SignetCrypto", "SignetTestKit"], swiftSettings: house),
    .testTarget(name: "SignetJSONTests", dependencies: ["SignetJSON"], swiftSettings: house),
    .testTarget(
      name: "SignetJOSETests", dependencies: ["SignetCrypto", "SignetJOSE", "SignetJSON", "SignetTestKit"],
      resources: [.copy("Vectors")], swiftSettings: house),
    .testTarget(
      name: "SignetImagesTests", dependencies: ["SignetImages", "SignetTestKit"], swiftSettings: house),
    .testTarget(
      name: "SignetSQLiteTests", dependencies: ["SignetSQLite", "SignetSystem", "SignetTestKit"],
      swiftSettings: house),
    .testTarget(
      name: "SignetSQLTests", dependencies: ["SignetSQL", "SignetSystem", "SignetTestKit", "SQLVictim"],
      swiftSettings: house),
    .testTarget(
      name: "SignetHTTPClientTests", dependencies: ["SignetHTTPClient", "SignetTestKit"], swiftSettings: house
    ),
    .testTarget(
      name: "SignetHTTPServerTests", dependencies: ["SignetHTTPServer", "SignetTestKit"], swiftSettings: house
    ),
    .testTarget(
      name: "SignetTerminalTests", dependencies: ["SignetTerminal", "SignetTestKit"], swiftSettings: house),
    .testTarget(
      name: "SignetOATHTests", dependencies: ["SignetCrypto", "SignetOATH", "SignetTestKit"],
      swiftSettings: house),
    .testTarget(
      name: "SignetInterchangeTests",
      dependencies: ["SignetCrypto", "SignetInterchange", "SignetJSON", "SignetOATH", "SignetTestKit"],
      swiftSettings: house),
    .testTarget(
      name: "SignetPolicyTests", dependencies: ["SignetJSON", "SignetPolicy", "SignetTestKit"],
      swiftSettings: house),
    .testTarget(
      name: "SignetIntegrityTests",
      dependencies: [
        "CLinuxProcess", "IntegrityVictim", "SignetCrypto", "SignetIntegrity", "SignetJOSE", "SignetJSON",
        "SignetTestKit",
      ], swiftSettings: house),
    .testTarget(
      name: "SignetUAFTests",
      dependencies: ["SignetCrypto", "SignetJSON", "SignetTestKit", "SignetUAF", "UAFFixture"],
      swiftSettings: house),
    .testTarget(
      name: "SignetPushAuthTests",
      dependencies: ["SignetCrypto", "SignetJOSE", "SignetJSON", "SignetPushAuth", "SignetTestKit"],
      resources: [.copy("Vectors")], swiftSettings: house),
    .testTarget(
      name: "SignetProtocolTests",
      dependencies: [
        "SignetCrypto", "SignetJOSE", "SignetJSON", "SignetOATH", "SignetPolicy", "SignetProtocol",
        "SignetTestKit",
      ], resources: [.copy("Vectors")], swiftSettings: house),
    .testTarget(
      name: "SignetVaultTests",
      dependencies: [
        "SignetCrypto", "SignetOATH", "SignetPolicy", "SignetSQLite", "SignetTesting", "SignetTestKit",
        "SignetVault",
        "VaultVictim",
      ], exclude: ["Fixtures"], swiftSettings: house),
    .testTarget(
      name: "SignetTPMTests",
      dependencies: [
        "SignetCrypto", "SignetPolicy", "SignetTesting", "SignetTestKit", "SignetTPM", "SignetVault",
      ], swiftSettings: house),
    .testTarget(
      name: "SignetLinuxTests",
      dependencies: [
        "BusFixture", "SignetCrypto", "SignetLinux", "SignetPolicy", "SignetTesting", "SignetTestKit",
        "SignetVault",
      ], swiftSettings: house),
    .testTarget(
      name: "SignetAgentTests",
      dependencies: [
        "Signet", "SignetAgent", "SignetCrypto", "SignetIntegrity", "SignetPolicy", "SignetProtocol",
        "SignetServer", "SignetServerTesting", "SignetStorage", "SignetTesting", "SignetTestKit",
        "SignetVault",
      ], swiftSettings: house),
    .testTarget(
      name: "SignetPushTests",
      dependencies: [
        "PushFixture", "SignetCrypto", "SignetJSON", "SignetProtocol", "SignetPush", "SignetTesting",
      ], swiftSettings: house),
    .testTarget(
      name: "SignetStorageTests",
      dependencies: [
        "PostgreSQLFixture", "SignetCrypto", "SignetServerTesting", "SignetSQL", "SignetSQLite",
        "SignetStorage", "SignetSystem", "SignetTestKit",
      ], swiftSettings: house),
    .testTarget(
      name: "SignetSimulationTests",
      dependencies: [
        "AccountModel", "PostgreSQLFixture", "SignetCrypto", "SignetHTTPClient", "SignetJOSE", "SignetJSON",
        "SignetOATH", "SignetPolicy", "SignetProtocol", "SignetServer", "SignetServerTesting", "SignetSQL",
        "SignetStorage", "SignetSystem", "SignetTestKit", "SignetUAF",
      ], swiftSettings: house),
    .testTarget(
      name: "SignetServerTests",
      dependencies: [
        "PostgreSQLFixture", "PushFixture", "SignetCrypto", "SignetDataDirectory", "SignetHTTPClient",
        "SignetHTTPServer", "SignetImages", "SignetInterchange", "SignetJOSE", "SignetJSON", "SignetOATH",
        "SignetPolicy", "SignetProtocol", "SignetPush", "SignetPushAuth", "SignetServer",
        "SignetServerTesting", "SignetSQL", "SignetSQLite", "SignetStorage", "SignetSystem", "SignetTesting",
        "SignetTestKit", "SignetUAF", "UAFFixture",
      ], swiftSettings: house),
    .testTarget(
      name: "SignetTests",
      dependencies: [
        "PushFixture", "Signet", "SignetCrypto", "SignetHTTPClient", "SignetIntegrity", "SignetInterchange",
        "SignetJOSE", "SignetJSON", "SignetOATH", "SignetPolicy", "SignetProtocol", "SignetPush",
        "SignetPushAuth", "SignetServer", "SignetServerTesting", "SignetSQLite", "SignetStorage",
        "SignetSystem", "SignetTesting", "SignetTestKit", "SignetTPM", "SignetUAF", "SignetUAFClient",
        "SignetVault", "UAFFixture",
      ], swiftSettings: house),
    .testTarget(
      name: "SignetCheckTests",
      dependencies: [
        "signet-check", "SignetCrypto", "SignetJOSE", "SignetJSON", "SignetTestKit", "SignetUAF",
        "UAFFixture",
      ], swiftSettings: house),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "AccountModel", "BusFixture", "PostgreSQLFixture", "PushFixture", "Signet", "SignetAgent",
        "SignetCrypto", "SignetDataDirectory", "SignetHTTPClient", "SignetImages", "SignetInterchange",
        "SignetJSON", "SignetLinux", "SignetOATH", "SignetProtocol", "SignetPushAuth", "SignetServer",
        "SignetServerTesting", "SignetSQLite", "SignetStorage", "SignetSystem", "SignetTesting",
        "SignetTestKit", "SignetUAF", "UAFFixture",
      ], swiftSettings: house),
    // What the benchmarks say of figures.
    .target(
      name: "BenchReport", dependencies: ["SignetJSON"], path: "Benchmarks/Sources/BenchReport",
      swiftSettings: house),
    .testTarget(name: "BenchReportTests", dependencies: ["BenchReport", "SignetJSON"], swiftSettings: house),
  ],
  swiftLanguageModes: [.v6]
)

// `Scripts/bench` builds the benchmarks, of the objects that are tested and installed; nobody else does.
if Context.environment["SIGNET_BENCHMARKS"] != nil {
  package.targets += [
    .target(
      name: "CLoadClient", path: "Benchmarks/Sources/CLoadClient", cSettings: [.define("_GNU_SOURCE")],
      linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .target(
      name: "CTPMPeer", path: "Benchmarks/Sources/CTPMPeer", cSettings: [.define("_GNU_SOURCE")],
      linkerSettings: [
        .linkedLibrary("tss2-esys", .when(platforms: [.linux])),
        .linkedLibrary("sqlite3", .when(platforms: [.linux])),
      ]),
    .target(
      name: "CEmptyServer", path: "Benchmarks/Sources/CEmptyServer",
      linkerSettings: [.linkedLibrary("microhttpd")]),
    .executableTarget(
      name: "signet-bench",
      dependencies: [
        "BenchReport", "CEmptyServer", "CLoadClient", "COpenSSL", onLinux("CTPMPeer"), "Signet",
        "SignetCrypto", "SignetHTTPServer", "SignetIntegrity", "SignetJOSE",
        "SignetJSON", "SignetOATH", "SignetPolicy", "SignetProtocol", "SignetServer",
        "SignetServerTesting", "SignetSQLite", "SignetStorage", "SignetTesting",
        "SignetTestKit", "SignetTPM", "SignetUAF", "SignetVault",
      ], path: "Benchmarks/Sources/signet-bench", swiftSettings: facingC),
  ]
}

// `Scripts/test NAME` builds one test target; the others are left out.
if let name = Context.environment["SIGNET_TEST_TARGET"], !name.isEmpty {
  package.targets.removeAll { $0.type == .test && $0.name != name }
}
