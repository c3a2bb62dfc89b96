// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"), .treatAllWarnings(as: .error),
]

/// A package of its own, so that nobody who uses Signet builds it.
let package = Package(
  name: "signet-benchmarks",
  platforms: [.macOS(.v26)],
  dependencies: [.package(name: "signet", path: "..")],
  targets: [
    .target(
      name: "CLoadClient",
      cSettings: [.define("_GNU_SOURCE")],
      linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .target(
      name: "CTPMPeer",
      cSettings: [.define("_GNU_SOURCE")],
      linkerSettings: [
        .linkedLibrary("tss2-esys", .when(platforms: [.linux])),
        .linkedLibrary("sqlite3", .when(platforms: [.linux])),
      ]),
    .target(name: "CEmptyServer", linkerSettings: [.linkedLibrary("microhttpd")]),
    .target(
      name: "BenchReport", dependencies: [.product(name: "Signet", package: "signet")], swiftSettings: house),
    .executableTarget(
      name: "signet-bench",
      dependencies: [
        "BenchReport", "CEmptyServer", "CLoadClient",
        .target(name: "CTPMPeer", condition: .when(platforms: [.linux])),
        .product(name: "Signet", package: "signet"),
        .product(name: "SignetIntegrity", package: "signet"),
        .product(name: "SignetServerTesting", package: "signet"),
        .product(name: "SignetTesting", package: "signet"),
      ],
      swiftSettings: house + [.strictMemorySafety()]),
    .testTarget(name: "BenchReportTests", dependencies: ["BenchReport"], swiftSettings: house),
  ],
  swiftLanguageModes: [.v6]
)
