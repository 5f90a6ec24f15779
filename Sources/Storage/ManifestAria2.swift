/// Options that aria2 knows in its input files (aria2c(1), "Input File") and that mean nothing here, so that such
/// a file is read without a word about them.
let aria2Options = names(
    """
    all-proxy all-proxy-passwd all-proxy-user allow-overwrite allow-piece-length-change always-resume async-dns
    auto-file-renaming bt-enable-hook-after-hash-check bt-enable-lpd bt-exclude-tracker bt-external-ip
    bt-force-encryption bt-hash-check-seed bt-load-saved-metadata bt-max-open-files bt-max-peers bt-metadata-only
    bt-min-crypto-level bt-prioritize-piece bt-remove-unselected-file bt-request-peer-speed-limit
    bt-require-crypto bt-save-metadata bt-seed-unverified bt-stop-timeout bt-tracker bt-tracker-connect-timeout
    bt-tracker-interval bt-tracker-timeout ca-certificate certificate check-certificate check-integrity
    conditional-get connect-timeout content-disposition-default-utf8 continue dir dry-run enable-http-keep-alive
    enable-http-pipelining enable-mmap enable-peer-exchange file-allocation follow-metalink follow-torrent
    force-save ftp-passwd ftp-pasv ftp-proxy ftp-proxy-passwd ftp-proxy-user ftp-reuse-connection ftp-type
    ftp-user gid hash-check-only http-accept-gzip http-auth-challenge http-no-cache http-passwd http-proxy
    http-proxy-passwd http-proxy-user http-user https-proxy https-proxy-passwd https-proxy-user index-out
    load-cookies lowest-speed-limit max-connection-per-server max-download-limit max-file-not-found
    max-mmap-limit max-resume-failure-tries max-tries max-upload-limit metalink-base-uri
    metalink-enable-unique-protocol metalink-language metalink-location metalink-os metalink-preferred-protocol
    metalink-version min-split-size no-file-allocation-limit no-netrc no-proxy no-want-digest-header
    parameterized-uri pause pause-metadata piece-length private-key proxy-method realtime-chunk-checksum referer
    remote-time remove-control-file retry-wait reuse-uri rpc-save-upload-metadata save-cookies save-not-found
    seed-ratio seed-time select-file split ssh-host-key-md stream-piece-selector timeout uri-selector use-head
    user-agent
    """)

/// Options that aria2 has only for itself, in its configuration file (aria2c(1), "aria2.conf").
let aria2GlobalOptions = names(
    """
    auto-save-interval console-log-level daemon deferred-input dht-entry-point dht-file-path dht-listen-port
    disable-ipv6 disk-cache download-result enable-color enable-dht enable-dht6 enable-rpc event-poll
    force-sequential human-readable input-file interface keep-unfinished-download-result listen-port log log-level
    max-concurrent-downloads max-download-result max-overall-download-limit max-overall-upload-limit min-tls-version
    netrc-path no-conf on-bt-download-complete on-download-complete on-download-error on-download-pause
    on-download-start on-download-stop optimize-concurrent-downloads peer-agent peer-id-prefix quiet rlimit-nofile
    rpc-allow-origin-all rpc-listen-all rpc-listen-port rpc-max-request-size rpc-secret rpc-secure save-session
    save-session-interval server-stat-if server-stat-of show-console-readout stop summary-interval
    """)

private func names(_ text: String) -> Set<String> {
    Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
}
