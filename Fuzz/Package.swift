// swift-tools-version: 6.2
import PackageDescription

// A separate package, since only here the libraries are built with the fuzzer's instrumentation. See README.md.

let house: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

// One executable for each family of parsers. A product has the modules that it is made of.
func fuzzTarget(_ name: String, _ products: String...) -> Target {
  .executableTarget(
    name: name, dependencies: ["LibFuzzer"] + products.map { .product(name: $0, package: "signet") },
    swiftSettings: house)
}

let package = Package(
  name: "signet-fuzz",
  platforms: [.macOS(.v26)],
  dependencies: [.package(name: "signet", path: "..")],
  targets: [
    .systemLibrary(name: "CLibFuzzer", path: "Modules/CLibFuzzer"),
    .target(
      name: "CFixedRandom", path: "Modules/CFixedRandom", linkerSettings: [.linkedLibrary("crypto")]),
    .target(
      name: "LibFuzzer", dependencies: ["CFixedRandom", "CLibFuzzer"],
      swiftSettings: house + [.strictMemorySafety()]),
    fuzzTarget("fuzz-json", "Signet"),
    fuzzTarget("fuzz-jose", "Signet"),
    fuzzTarget("fuzz-crypto", "Signet"),
    fuzzTarget("fuzz-certificate", "Signet"),
    fuzzTarget("fuzz-oath", "Signet"),
    fuzzTarget("fuzz-accounts", "Signet"),
    fuzzTarget("fuzz-policy", "Signet"),
    fuzzTarget("fuzz-pushauth", "Signet"),
    fuzzTarget("fuzz-protocol", "Signet"),
    fuzzTarget("fuzz-signed", "Signet"),
    fuzzTarget("fuzz-qr", "SignetImages"),
    fuzzTarget("fuzz-terminal", "Signet"),
    fuzzTarget("fuzz-httpclient", "Signet"),
    fuzzTarget("fuzz-http", "SignetServerTesting"),
    fuzzTarget("fuzz-ciba", "SignetServerTesting"),
    fuzzTarget("fuzz-vault", "Signet"),
    fuzzTarget("fuzz-appdata", "Signet"),
    fuzzTarget("fuzz-records", "SignetUAFClient"),
    fuzzTarget("fuzz-tpm", "SignetLinux"),
    fuzzTarget("fuzz-integrity", "SignetIntegrity"),
    fuzzTarget("fuzz-server", "SignetDataDirectory", "SignetServerTesting"),
    fuzzTarget("fuzz-requests", "SignetServerTesting"),
    fuzzTarget("fuzz-answers", "SignetUAFClient", "SignetServerTesting"),
    fuzzTarget("fuzz-agent", "SignetAgent"),
    fuzzTarget("fuzz-uaf", "SignetUAF"),
    fuzzTarget("fuzz-uafserver", "SignetDataDirectory", "SignetServerTesting"),
    // An executable cannot be imported, so its sources except for its `main` are a part of the target. They switch over all cases
    // of enumerations that are complete only inside their package, which is a warning in Swift 5.
    .executableTarget(
      name: "fuzz-check",
      dependencies: [
        "LibFuzzer", .product(name: "Signet", package: "signet"),
        .product(name: "SignetUAF", package: "signet"),
      ],
      exclude: ["signet-check/main.swift"], swiftSettings: [.swiftLanguageMode(.v5)]),
  ],
  swiftLanguageModes: [.v6]
)
