internal import Agent
internal import Posix

/// What systemd shows of a run (sd_notify(3)): that it has begun, how far it is, that it ends.
struct ServiceManager: ~Copyable {
    /// Seconds between two words on how far it is.
    static let interval = 1.0

    private let socket: NotifySocket
    private var last = ""

    /// Nil without `$NOTIFY_SOCKET`.
    init?(environment: (String) -> String?) {
        guard let name = environment("NOTIFY_SOCKET") else { return nil }
        do throws(SystemError) {
            guard let socket = try NotifySocket(named: name) else { return nil }
            self.socket = socket
        } catch {
            return nil
        }
    }

    mutating func began() { send("READY=1\nSTATUS=reading the manifests") }

    mutating func status(_ text: String) {
        guard text != last else { return }
        last = text
        send("STATUS=" + DisplayText.printable(text))
    }

    mutating func ending(_ text: String) { send("STOPPING=1\nSTATUS=" + DisplayText.printable(text)) }

    private borrowing func send(_ text: String) {
        do throws(SystemError) {
            try socket.send(text)
        } catch {
            // A manager that went away, or does not keep up, is no reason to end a run or to say so.
            return
        }
    }
}
