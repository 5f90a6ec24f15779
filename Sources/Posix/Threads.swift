internal import CLinux

/// A kernel thread. Blocking work runs on these, never on Swift's cooperative pool.
package struct WorkerThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread; all signals are blocked in it, so that the main thread's handler gets them.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let box = Unmanaged.passRetained(Body(name: name, run: body))
        var everything = sigset_t()
        var before = sigset_t()
        sigfillset(&everything)
        pthread_sigmask(SIG_SETMASK, &everything, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var handle = pthread_t()
        let code = pthread_create(
            &handle, nil,
            { context in
                guard let context else { return nil }
                let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
                pthread_setname_np(pthread_self(), body.name)
                body.run()
                return nil
            }, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw SystemError("pthread_create", name, code: code)
        }
        self.handle = handle
    }

    /// Waits for the thread's end.
    package func join() { pthread_join(handle, nil) }

    /// Lets it end by itself.
    package func detach() { pthread_detach(handle) }

    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void
        init(name: String, run: @escaping @Sendable () -> Void) {
            // The kernel takes 15 bytes.
            self.name = String(name.prefix(15))
            self.run = run
        }
    }
}

/// A value behind a mutex, with waiting for it to change. See pthread_cond_timedwait(3); waits use the
/// monotonic clock.
///
/// It stands for `Synchronization.Mutex` everywhere: the thread sanitizer knows a POSIX mutex, but not the futex
/// of that one, and would report every value behind it.
package final class Monitor<Value: ~Copyable>: @unchecked Sendable {
    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ value: consuming sending Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs the body alone with the value.
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Runs the body alone with the value, then wakes all who wait.
    package func signal<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&value)
    }

    /// Runs the body alone with the value, then wakes all who wait if it says so: a wake-up costs both sides a
    /// switch of threads, which is more than most changes do.
    package func change(_ body: (inout Value) -> Bool) {
        pthread_mutex_lock(mutex)
        let wakes = body(&value)
        if wakes { pthread_cond_broadcast(condition) }
        pthread_mutex_unlock(mutex)
    }

    /// What a waiter wants next.
    package enum Next<Result> {
        case done(Result)
        /// Sleep until a signal, at the latest until then; then ask again.
        case wait(until: Instant)
    }

    /// Asks the body, alone with the value, again after each signal or deadline until it is done.
    package func wait<Result>(_ body: (inout Value) -> Next<Result>) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch body(&value) {
            case .done(let result): return result
            case .wait(let deadline):
                if deadline == .never {
                    pthread_cond_wait(condition, mutex)
                } else {
                    var time = timespec(
                        tv_sec: Int(deadline.nanoseconds / 1_000_000_000),
                        tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
                    pthread_cond_timedwait(condition, mutex, &time)
                }
            }
        }
    }
}
