import Reconcile
import Storage
import Wire

extension Job {
    /// The fields that say who asks, for the request at this hop; each goes to the origin that it is meant for.
    ///
    /// `header=` and `--header` belong to the entry's own origin, also when a redirect leads back there. Userinfo
    /// belongs to the origin of the URL that has it, the entry's or a mirror's, and stands back behind an
    /// Authorization field. A netrc is asked only for the entry's own origin, when nothing else speaks for it.
    func credentials(at redirects: Redirects, _ options: SyncOptions) -> [(name: String, value: String)] {
        // As the manifest spells it: the form of IDNA is for the wire.
        let hop = redirects.current
        var fields = isHome(hop) ? options.headers + entry.headers : []
        if fields.contains(where: { $0.name.lowercased() == "authorization" }) { return fields }
        if redirects.isAtHome, let own = url.basicCredentials {
            fields.append(("Authorization", basicAuthorization(user: own.user, password: own.password)))
        } else if isHome(hop), entry.url.userinfo == nil,
            let login = options.netrc?.login(for: hop.origin.bareHost)
        {
            fields.append(("Authorization", basicAuthorization(user: login.user, password: login.password)))
        }
        return fields
    }
}
