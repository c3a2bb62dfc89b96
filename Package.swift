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

let package = Package(
  name: "signet",
  platforms: [.macOS(.v26), .iOS(.v26)],
  products: [
    .library(name: "Signet", targets: ["Signet"]),
    .library(name: "SignetIntegrity", targets: ["SignetIntegrity"]),
    .library(name: "SignetAgent", targets: ["SignetAgent"]),
    .library(name: "SignetTesting", targets: ["SignetTesting"]),
    .library(name: "SignetServerTesting", targets: ["SignetServerTesting"]),
    // Not for apps: Fuzz, a package of its own, reads the operator's files by it.
    .library(name: "SignetDataDirectory", targets: ["SignetDataDirectory"]),
    .library(name: "SignetQR", targets: ["SignetQR"]),
    .library(name: "SignetUAF", targets: ["SignetUAF"]),
    .executable(name: "signet", targets: ["signet-cli"]),
    .executable(name: "signet-server", targets: ["signet-server"]),
    .executable(name: "signet-manifest", targets: ["signet-manifest"]),
    .executable(name: "signet-check", targets: ["signet-check"]),
  ],
  targets: [
    // C libraries of the system.
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
    .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CLinuxProcess"),
    .systemLibrary(name: "CSpawn"),
    // No key; Scripts/release links another object in its place (docs/integrity.md).
    .target(name: "CReleaseKey"),
    // What our own programs do before a library's code runs; not for apps.
    .target(name: "CProgramStart"),
    // The `free` of `signet`, which wipes (docs/decisions/0208-freed-memory-is-wiped.md); not for apps.
    .target(name: "CWipingFree"),
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),

    // Base.
    .target(name: "SignetConcurrency", swiftSettings: facingC),
    .target(name: "SignetCrypto", dependencies: ["COpenSSL", "CArgon2"], swiftSettings: facingC),
    .target(name: "SignetFiles", swiftSettings: facingC),
    .target(name: "SignetDBus", dependencies: ["CSystemd", "SignetConcurrency"], swiftSettings: facingC),
    .target(name: "SignetJSON", swiftSettings: house),
    .target(
      name: "SignetText",
      dependencies: [.target(name: "CUnistring", condition: .when(platforms: [.linux]))], swiftSettings: house
    ),
    .target(name: "SignetIdentifiers", dependencies: ["SignetCrypto"], swiftSettings: house),
    .target(name: "SignetJOSE", dependencies: ["SignetCrypto", "SignetJSON"], swiftSettings: house),
    .target(name: "SignetSQLite", dependencies: ["CSQLite", "SignetFiles"], swiftSettings: facingC),
    .target(
      name: "SignetSQL", dependencies: ["CPostgreSQL", "CSQLite", "SignetConcurrency", "SignetFiles"],
      swiftSettings: facingC),
    .target(name: "SignetTransport", dependencies: ["CCurl"], swiftSettings: facingC),
    .target(
      name: "SignetQR", dependencies: ["CQREncode", "CZBar", "SignetFiles", "SignetPNG"],
      swiftSettings: facingC),
    .target(name: "SignetPNG", dependencies: ["CPNG"], swiftSettings: facingC),

    // Shared by device and server.
    .target(
      name: "SignetOATH", dependencies: ["CLibXML2", "SignetCrypto", "SignetJSON", "SignetText"],
      swiftSettings: house),
    .target(
      name: "SignetPushAuth", dependencies: ["SignetCrypto", "SignetJOSE", "SignetJSON", "SignetText"],
      swiftSettings: house),
    .target(
      name: "SignetPolicy", dependencies: ["SignetConcurrency", "SignetCrypto", "SignetJSON", "SignetText"],
      swiftSettings: house),
    .target(
      name: "SignetUAF", dependencies: ["SignetCrypto", "SignetJSON", "SignetPNG"], swiftSettings: house),
    .target(
      name: "SignetDictionary",
      dependencies: ["CPwquality", "SignetConcurrency", "SignetCrypto", "SignetPolicy"],
      swiftSettings: facingC),
    .target(
      name: "SignetWire",
      dependencies: [
        "SignetCrypto", "SignetIdentifiers", "SignetJSON", "SignetJOSE", "SignetOATH", "SignetPolicy",
        "SignetText",
      ],
      swiftSettings: house),

    // Domain.
    .target(
      name: "SignetVault",
      dependencies: [
        "SignetConcurrency", "SignetCrypto", "SignetFiles", "SignetJSON", "SignetOATH", "SignetPolicy",
        "SignetSQLite",
      ],
      swiftSettings: house),
    .target(
      name: "SignetTPM",
      dependencies: [
        .target(name: "CTPM2", condition: .when(platforms: [.linux])), "SignetCrypto", "SignetFiles",
        "SignetVault",
      ],
      swiftSettings: facingC),
    .target(
      name: "SignetStorage",
      dependencies: [
        "SignetConcurrency", "SignetCrypto", "SignetIdentifiers", "SignetJSON", "SignetSQL", "SignetSQLite",
      ],
      swiftSettings: house),
    .target(
      name: "SignetBiometrics",
      dependencies: ["SignetCrypto", "SignetDBus", "SignetText", "SignetVault"],
      swiftSettings: house),
    .target(
      name: "SignetPAM",
      dependencies: ["CPAM", "SignetConcurrency", "SignetCrypto", "SignetText", "SignetVault"],
      swiftSettings: facingC),
    .target(
      name: "SignetLogind",
      dependencies: ["SignetConcurrency", "SignetDBus", "SignetText", "SignetVault"], swiftSettings: house
    ),
    .target(
      name: "SignetDesktop", dependencies: ["SignetConcurrency", "SignetDBus", "SignetText"],
      swiftSettings: house),
    .target(
      name: "SignetIntegrity",
      dependencies: [
        .target(name: "CLinuxProcess", condition: .when(platforms: [.linux])), "CReleaseKey",
        "SignetConcurrency", "SignetCrypto", "SignetJOSE", "SignetJSON", "SignetText",
      ],
      swiftSettings: facingC),
    .target(name: "SignetHTTP", dependencies: ["CMicroHTTPD"], swiftSettings: facingC),
    .target(
      name: "SignetPush",
      dependencies: ["SignetCrypto", "SignetJOSE", "SignetJSON", "SignetTransport", "SignetWire"],
      swiftSettings: house),

    // Systems.
    .target(
      name: "Signet",
      dependencies: [
        "SignetConcurrency", "SignetCrypto",
        .target(name: "SignetDictionary", condition: .when(platforms: [.linux])), "SignetIdentifiers",
        "SignetIntegrity",
        "SignetJSON",
        "SignetJOSE", "SignetOATH", "SignetPolicy", "SignetPushAuth", "SignetTransport", "SignetUAF",
        "SignetVault",
        "SignetWire",
        .target(name: "SignetTPM", condition: .when(platforms: [.linux])),
        .target(name: "SignetBiometrics", condition: .when(platforms: [.linux])),
        .target(name: "SignetPAM", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: house),
    .target(
      name: "SignetServer",
      dependencies: [
        "SignetConcurrency", "SignetCrypto", "SignetHTTP", "SignetIntegrity", "SignetJSON",
        "SignetJOSE", "SignetOATH", "SignetPolicy", "SignetPush", "SignetPushAuth", "SignetQR",
        "SignetStorage", "SignetText", "SignetTransport", "SignetUAF", "SignetWire",
      ],
      swiftSettings: house),
    .target(
      name: "SignetDataDirectory",
      dependencies: [
        "SignetCrypto", "SignetFiles", "SignetHTTP", "SignetIntegrity", "SignetJSON", "SignetPolicy",
        "SignetPush", "SignetServer", "SignetStorage", "SignetText", "SignetTransport", "SignetUAF",
        "SignetWire",
      ],
      swiftSettings: house),
    // For tests: the kit knows neither device nor server, the doubles no server (docs/architecture.md).
    .target(name: "CTestExit"),
    .target(
      name: "SignetTestKit",
      dependencies: [
        .target(name: "CSpawn", condition: .when(platforms: [.linux])), "CTestExit", "SignetCrypto",
      ],
      swiftSettings: house),
    .target(
      name: "SignetTesting",
      dependencies: ["Signet", "SignetCrypto", "SignetPolicy", "SignetTestKit", "SignetVault", "SignetWire"],
      swiftSettings: house),
    .target(
      name: "SignetServerTesting",
      dependencies: [
        "SignetConcurrency", "SignetCrypto", "SignetHTTP", "SignetPolicy", "SignetServer", "SignetSQLite",
        "SignetStorage", "SignetTestKit", "SignetTransport", "SignetWire",
      ],
      swiftSettings: house),

    .target(
      name: "SignetAgent",
      dependencies: [
        "Signet", "SignetConcurrency", "SignetCrypto", "SignetFiles", "SignetIntegrity", "SignetJSON",
        "SignetVault",
      ],
      swiftSettings: facingC),

    // Applications.
    .target(name: "SignetTerminal", dependencies: ["SignetFiles", "SignetText"], swiftSettings: facingC),
    .executableTarget(
      name: "signet-cli",
      dependencies: [
        "CProgramStart", "CWipingFree", "Signet", "SignetAgent", "SignetCrypto",
        .target(name: "SignetDBus", condition: .when(platforms: [.linux])), "SignetFiles", "SignetJSON",
        .target(name: "SignetDesktop", condition: .when(platforms: [.linux])), "SignetIntegrity",
        .target(name: "SignetLogind", condition: .when(platforms: [.linux])), "SignetPolicy", "SignetQR",
        "SignetTerminal", "SignetText",
      ],
      swiftSettings: house),
    .executableTarget(
      name: "signet-server",
      dependencies: [
        "CProgramStart", "SignetCrypto", "SignetDataDirectory", "SignetFiles", "SignetHTTP",
        "SignetIntegrity", "SignetJSON", "SignetOATH",
        "SignetPolicy",
        "SignetQR", "SignetServer", "SignetStorage", "SignetTerminal", "SignetText", "SignetTransport",
        "SignetUAF", "SignetWire",
      ],
      swiftSettings: house),
    .executableTarget(
      name: "signet-manifest",
      dependencies: ["CProgramStart", "SignetCrypto", "SignetFiles", "SignetIntegrity", "SignetTerminal"],
      swiftSettings: house),
    .executableTarget(
      name: "signet-check",
      dependencies: [
        "SignetCrypto", "SignetJSON", "SignetJOSE", "SignetOATH", "SignetPolicy", "SignetPushAuth",
        "SignetUAF", "SignetWire",
      ],
      swiftSettings: house),

    // Tests: one target a module; vectors that are ours to keep lie beside them.
    .testTarget(name: "SignetTestKitTests", dependencies: ["SignetTestKit"], swiftSettings: house),
    .testTarget(
      name: "SignetCryptoTests", dependencies: ["SignetCrypto", "SignetTestKit"], swiftSettings: house),
    .testTarget(
      name: "SignetFilesTests", dependencies: ["SignetFiles", "SignetCrypto", "SignetTestKit"],
      swiftSettings: house),
    .testTarget(name: "SignetJSONTests", dependencies: ["SignetJSON"], swiftSettings: house),
    .testTarget(
      name: "SignetJOSETests", dependencies: ["SignetJOSE", "SignetCrypto", "SignetJSON", "SignetTestKit"],
      resources: [.copy("Vectors")], swiftSettings: house),
    .testTarget(
      name: "SignetSQLiteTests", dependencies: ["SignetSQLite", "SignetConcurrency", "SignetTestKit"],
      swiftSettings: house),
    .target(
      name: "PostgreSQLFixture", dependencies: ["SignetSQL", "SignetStorage", "SignetTestKit"],
      path: "Tests/PostgreSQLFixture",
      swiftSettings: house),
    .executableTarget(
      name: "SQLVictim", dependencies: ["SignetConcurrency", "SignetSQL"], path: "Tests/SQLVictim",
      swiftSettings: house),
    .testTarget(
      name: "SignetSQLTests",
      dependencies: ["SignetSQL", "SignetConcurrency", "SignetTestKit", "SQLVictim"],
      swiftSettings: house),
    .testTarget(
      name: "SignetTransportTests", dependencies: ["SignetTransport", "SignetTestKit"], swiftSettings: house),
    .target(
      name: "PushFixture", dependencies: ["SignetCrypto", "SignetJSON", "SignetTestKit", "SignetTransport"],
      path: "Tests/PushFixture", swiftSettings: house),
    .testTarget(
      name: "SignetPushTests",
      dependencies: [
        "SignetPush", "PushFixture", "SignetCrypto", "SignetJSON", "SignetTesting", "SignetWire",
      ], swiftSettings: house),
    .testTarget(
      name: "SignetPushAuthTests",
      dependencies: ["SignetPushAuth", "SignetCrypto", "SignetJOSE", "SignetJSON", "SignetTestKit"],
      resources: [.copy("Vectors")], swiftSettings: house),
    .testTarget(
      name: "SignetQRTests", dependencies: ["SignetQR", "SignetTestKit"], swiftSettings: house),
    .testTarget(
      name: "SignetOATHTests", dependencies: ["SignetOATH", "SignetCrypto", "SignetJSON", "SignetTestKit"],
      swiftSettings: house),
    .testTarget(
      name: "SignetPolicyTests", dependencies: ["SignetPolicy", "SignetJSON", "SignetTestKit"],
      swiftSettings: house),
    .target(
      name: "UAFFixture", dependencies: ["COpenSSL", "SignetUAF", "SignetCrypto"], path: "Tests/UAFFixture",
      swiftSettings: facingC),
    .testTarget(
      name: "SignetUAFTests",
      dependencies: ["SignetUAF", "SignetCrypto", "SignetJSON", "SignetTestKit", "UAFFixture"],
      swiftSettings: house),
    .testTarget(
      name: "SignetDictionaryTests", dependencies: ["SignetDictionary", "SignetPolicy", "SignetTestKit"],
      swiftSettings: house),
    .testTarget(
      name: "SignetWireTests",
      dependencies: [
        "SignetWire", "SignetCrypto", "SignetJOSE", "SignetJSON", "SignetOATH", "SignetPolicy",
        "SignetTestKit",
      ],
      resources: [.copy("Vectors")], swiftSettings: house),
    .executableTarget(
      name: "VaultVictim", dependencies: ["SignetVault", "SignetCrypto"], path: "Tests/VaultVictim",
      swiftSettings: house),
    .testTarget(
      name: "SignetVaultTests",
      dependencies: [
        "SignetVault", "VaultVictim", "SignetCrypto", "SignetOATH", "SignetPolicy", "SignetSQLite",
        "SignetTesting", "SignetTestKit",
      ],
      exclude: ["Fixtures"], swiftSettings: house),
    .target(
      name: "BusFixture", dependencies: ["SignetDBus", "SignetTestKit"], path: "Tests/BusFixture",
      swiftSettings: house),
    .testTarget(
      name: "SignetDBusTests", dependencies: ["SignetDBus", "BusFixture", "SignetTestKit"],
      swiftSettings: house),
    .testTarget(
      name: "SignetBiometricsTests",
      dependencies: ["SignetBiometrics", "BusFixture", "SignetDBus", "SignetTestKit", "SignetVault"],
      swiftSettings: house),
    .testTarget(
      name: "SignetPAMTests",
      dependencies: [
        "SignetPAM", "BusFixture", "SignetCrypto", "SignetTesting", "SignetTestKit", "SignetVault",
      ],
      swiftSettings: house),
    .testTarget(
      name: "SignetLogindTests",
      dependencies: ["SignetLogind", "BusFixture", "SignetDBus", "SignetTestKit", "SignetVault"],
      swiftSettings: house),
    .testTarget(
      name: "SignetDesktopTests", dependencies: ["SignetDesktop", "BusFixture", "SignetDBus"],
      swiftSettings: house),
    .testTarget(
      name: "SignetTPMTests",
      dependencies: [
        "SignetTPM", "SignetCrypto", "SignetPolicy", "SignetTesting", "SignetTestKit", "SignetVault",
      ],
      swiftSettings: house),
    .testTarget(
      name: "SignetAgentTests",
      dependencies: [
        "SignetAgent", "Signet", "SignetCrypto", "SignetIntegrity", "SignetPolicy", "SignetServer",
        "SignetServerTesting", "SignetStorage", "SignetTesting", "SignetTestKit", "SignetVault", "SignetWire",
      ],
      swiftSettings: house),
    .executableTarget(
      name: "IntegrityVictim", dependencies: ["SignetCrypto", "SignetIntegrity", "SignetJSON"],
      path: "Tests/IntegrityVictim",
      swiftSettings: house),
    .testTarget(
      name: "SignetIntegrityTests",
      dependencies: [
        "SignetIntegrity", "CLinuxProcess", "IntegrityVictim", "SignetCrypto",
        "SignetJOSE", "SignetJSON", "SignetTestKit",
      ],
      swiftSettings: house),
    .testTarget(
      name: "SignetStorageTests",
      dependencies: [
        "SignetStorage", "PostgreSQLFixture", "SignetConcurrency", "SignetCrypto", "SignetSQL",
        "SignetServerTesting",
        "SignetSQLite", "SignetTestKit",
      ],
      swiftSettings: house),
    .target(name: "AccountModel", path: "Tests/AccountModel", swiftSettings: house),
    .testTarget(
      name: "SignetSimulationTests",
      dependencies: [
        "AccountModel", "PostgreSQLFixture", "SignetConcurrency", "SignetCrypto", "SignetJOSE", "SignetJSON",
        "SignetOATH", "SignetPolicy", "SignetSQL", "SignetServer", "SignetServerTesting", "SignetStorage",
        "SignetTestKit", "SignetTransport", "SignetUAF", "SignetWire",
      ],
      swiftSettings: house),
    .testTarget(
      name: "SignetHTTPTests", dependencies: ["SignetHTTP", "SignetTestKit"], swiftSettings: house),
    .testTarget(name: "SignetTextTests", dependencies: ["SignetText"], swiftSettings: house),
    .testTarget(
      name: "SignetTerminalTests", dependencies: ["SignetTerminal", "SignetTestKit"], swiftSettings: house),
    .testTarget(
      name: "SignetCheckTests",
      dependencies: [
        "signet-check", "SignetCrypto", "SignetJOSE", "SignetJSON", "SignetTestKit", "SignetUAF",
        "UAFFixture",
      ],
      swiftSettings: house),
    .testTarget(
      name: "SignetServerTests",
      dependencies: [
        "SignetServer", "PostgreSQLFixture", "PushFixture", "SignetConcurrency", "SignetCrypto",
        "SignetDataDirectory", "SignetHTTP", "SignetJOSE",
        "SignetJSON", "SignetOATH",
        "SignetPolicy", "SignetPush", "SignetPushAuth", "SignetQR", "SignetServerTesting", "SignetSQLite",
        "SignetStorage", "SignetTesting", "SignetTestKit", "SignetTransport", "SignetUAF", "SignetWire",
        "UAFFixture",
      ], swiftSettings: house),
    .testTarget(
      name: "SignetTests",
      dependencies: [
        "Signet", "PushFixture", "SignetConcurrency", "SignetCrypto", "SignetIntegrity", "SignetJOSE",
        "SignetJSON", "SignetOATH",
        "SignetPolicy", "SignetPush", "SignetPushAuth", "SignetServer", "SignetServerTesting", "SignetSQLite",
        "SignetStorage", "SignetTesting", "SignetTestKit", "SignetTPM", "SignetTransport", "SignetUAF",
        "SignetVault", "SignetWire", "UAFFixture",
      ], swiftSettings: house),
    // What the benchmarks say of figures.
    .target(
      name: "BenchReport", dependencies: ["SignetJSON"], path: "Benchmarks/Sources/BenchReport",
      swiftSettings: house),
    .testTarget(
      name: "BenchReportTests", dependencies: ["BenchReport", "SignetJSON"], swiftSettings: house),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "AccountModel", "BusFixture", "PostgreSQLFixture", "PushFixture", "Signet", "SignetAgent",
        "SignetCrypto", "SignetDataDirectory", "SignetDBus", "SignetJSON",
        "SignetOATH", "SignetPushAuth", "SignetQR", "SignetServer", "SignetServerTesting", "SignetSQLite",
        "SignetStorage",
        "SignetTesting", "SignetTestKit", "SignetTransport", "SignetUAF", "SignetWire", "UAFFixture",
      ],
      swiftSettings: house),
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
        "BenchReport", "CEmptyServer", "CLoadClient", "COpenSSL",
        .target(name: "CTPMPeer", condition: .when(platforms: [.linux])), "Signet", "SignetCrypto",
        "SignetHTTP", "SignetIntegrity", "SignetJOSE", "SignetJSON", "SignetOATH", "SignetPolicy",
        "SignetServer", "SignetServerTesting", "SignetSQLite", "SignetStorage", "SignetTestKit",
        "SignetTesting",
        "SignetTPM", "SignetUAF", "SignetVault", "SignetWire",
      ], path: "Benchmarks/Sources/signet-bench", swiftSettings: facingC),
  ]
}

// `Scripts/test NAME` builds one test target; the others are left out.
if let name = Context.environment["SIGNET_TEST_TARGET"], !name.isEmpty {
  package.targets.removeAll { $0.type == .test && $0.name != name }
}
