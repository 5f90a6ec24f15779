internal import Testing

/// A certificate authority and a server certificate of its own for 127.0.0.1 and localhost, made by openssl(1)
/// in the test case's folder.
struct Authority {
    /// What clients trust.
    let certificate: String
    let serverCertificate: String
    let serverKey: String

    init() throws {
        let folder = scratch("tls")
        certificate = folder + "/ca.pem"
        serverCertificate = folder + "/server.pem"
        serverKey = folder + "/server.key"
        try write(
            """
            [req]
            distinguished_name = name
            prompt = no
            [name]
            O = syncagent tests
            [ca]
            basicConstraints = critical,CA:TRUE
            keyUsage = critical,keyCertSign,cRLSign
            subjectKeyIdentifier = hash
            [server]
            basicConstraints = critical,CA:FALSE
            subjectAltName = IP:127.0.0.1,DNS:localhost
            authorityKeyIdentifier = keyid
            """, to: folder + "/openssl.cnf")
        let key = [
            "req", "-x509", "-config", "openssl.cnf", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes", "-days", "2",
        ]
        for arguments in [
            key + ["-extensions", "ca", "-subj", "/CN=Test CA", "-keyout", "ca.key", "-out", "ca.pem"],
            key + [
                "-extensions", "server", "-subj", "/CN=Server", "-keyout", "server.key", "-out", "server.pem",
                "-CA", "ca.pem", "-CAkey", "ca.key",
            ],
        ] {
            let outcome = Child.run(
                "/usr/bin/openssl", arguments, environment: ["PATH": "/usr/bin", "HOME": folder],
                folder: folder)
            try #require(outcome.code == 0, "openssl: \(outcome)")
        }
    }
}
