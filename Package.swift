// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// The target graph is the drawing in CONTRIBUTING.md: imports point down only, and a target that may not
// import another does not list it here.
let package = Package(
    name: "syncagent",
    products: [
        .executable(name: "syncagent", targets: ["syncagent"])
    ],
    targets: [
        // System libraries and the part of glibc that the Glibc module leaves out.
        .target(name: "CLinux"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CIDN2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
        .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        .systemLibrary(name: "CISAL", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // Knows and decides: no system module is imported here.
        .target(name: "Wire", swiftSettings: strict),
        .target(name: "Reconcile", dependencies: ["Wire"], swiftSettings: strict),

        // Touches the world: owns every descriptor, pointer and errno.
        .target(name: "Posix", dependencies: ["CLinux"], swiftSettings: strict),
        .target(
            name: "Transport", dependencies: ["Wire", "Posix", "COpenSSL", "CIDN2"], swiftSettings: strict),
        .target(
            name: "Storage",
            dependencies: ["Wire", "Posix", "CLinux", "CSQLite", "COpenSSL", "CXXHash", "CISAL", "CZlib"],
            swiftSettings: strict),

        // Who runs when; and the edge.
        .target(
            name: "Agent", dependencies: ["Wire", "Reconcile", "Posix", "Transport", "Storage"],
            swiftSettings: strict),
        .executableTarget(
            name: "syncagent", dependencies: ["Agent", "Storage", "Reconcile", "Wire", "Posix"],
            swiftSettings: strict),

        // The origin that demo and tests talk to.
        .target(name: "TestOrigin", dependencies: ["Posix", "CLinux"], swiftSettings: strict),
        .executableTarget(
            name: "demo-origin", dependencies: ["TestOrigin", "Posix", "CLinux"], swiftSettings: strict),
        .executableTarget(
            name: "soak", dependencies: ["TestOrigin", "Storage", "Posix", "CLinux"], swiftSettings: strict),

        .testTarget(name: "WireTests", dependencies: ["Wire"], swiftSettings: strict),
        .testTarget(name: "ReconcileTests", dependencies: ["Reconcile", "Wire"], swiftSettings: strict),
        .testTarget(name: "PosixTests", dependencies: ["Posix"], swiftSettings: strict),
        .testTarget(
            name: "TransportTests", dependencies: ["Transport", "Wire", "Posix", "TestOrigin"],
            swiftSettings: strict),
        .testTarget(name: "StorageTests", dependencies: ["Storage", "Wire", "Posix"], swiftSettings: strict),
        .testTarget(
            name: "AgentTests",
            dependencies: ["Agent", "Wire", "Reconcile", "Posix", "Transport", "Storage"],
            swiftSettings: strict),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "TestOrigin", "syncagent", "demo-origin", "soak", "Agent", "Storage", "Posix", "Wire",
                "CLinux",
            ], swiftSettings: strict),
    ]
)
