import Posix
import Transport
import Wire

extension SyncOptions {
    /// The network as the options want it.
    func network(stop: Stop) -> Network {
        var proxies = proxies
        proxies.exceptions = proxies.exceptions.mappingNames(asciiName)
        return Network(
            tls: TLSOptions(authorities: caCertificates, certificate: certificate, key: certificateKey),
            proxies: proxies, connectTimeout: connectTimeout, stop: stop)
    }
}

/// A host name in the form of IDNA; nil when it has none.
private func asciiName(_ name: String) -> String? {
    do throws(TransportError) {
        return try asciiHost(name)
    } catch {
        return nil
    }
}
