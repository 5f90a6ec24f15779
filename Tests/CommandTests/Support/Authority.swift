internal import Testing

/// A certificate authority and a server certificate of its own for 127.0.0.1 and localhost, made by openssl(1)
/// in the test case's folder.
struct Authority {
    /// What clients trust.
    let certificate: String
    let serverCertificate: String
    let serverKey: String

    /// - Parameters:
    ///   - names: the subjectAltName of the server's certificate (x509v3_config(5)).
    ///   - isSelfSigned: the server's certificate is not the authority's.
    init(names: String = "IP:127.0.0.1,DNS:localhost", isExpired: Bool = false, isSelfSigned: Bool = false)
        throws
    {
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
            subjectAltName = \(names)
            authorityKeyIdentifier = keyid
            """, to: folder + "/openssl.cnf")
        let key = [
            "req", "-x509", "-config", "openssl.cnf", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes", "-days", "2",
        ]
        let server = ["-extensions", "server", "-subj", "/CN=Server", "-keyout", "server.key"]
        let signed = isSelfSigned ? [] : ["-CA", "ca.pem", "-CAkey", "ca.key"]
        var commands = [
            key + ["-extensions", "ca", "-subj", "/CN=Test CA", "-keyout", "ca.key", "-out", "ca.pem"],
            key + server + ["-out", "server.pem"] + signed,
        ]
        if isExpired {
            // req(1) takes no past date, x509(1) does.
            commands += [
                ["x509", "-x509toreq", "-in", "server.pem", "-signkey", "server.key", "-out", "server.csr"],
                [
                    "x509", "-req", "-in", "server.csr", "-out", "server.pem", "-days", "-1", "-extfile",
                    "openssl.cnf", "-extensions", "server", "-CAcreateserial",
                ] + signed,
            ]
        }
        for arguments in commands {
            let outcome = Child.run(
                "/usr/bin/openssl", arguments, environment: ["PATH": "/usr/bin", "HOME": folder],
                folder: folder)
            try #require(outcome.code == 0, "openssl: \(outcome)")
        }
    }
}
