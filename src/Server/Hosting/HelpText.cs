namespace Treepie.Server.Hosting;

/// <summary>The output of <c>--help</c>.</summary>
internal static class HelpText
{
    public static string Text { get; } = $"""
        Treepie server: document databases over HTTP and JSON, for RavenDB's clients.

        Usage: Treepie.Server [options]

          --data <directory>          Where the databases are kept. Default: ./data
          --urls <address>[;...]      Where to listen. Default: http://127.0.0.1:8080. Port 0 takes a free one.
                                      With http:// only this machine's own addresses (127.0.0.1, [::1], localhost) are
                                      accepted, and all its accounts are trusted. With https:// clients need a certificate.
          --certificate <file>        The server's certificate: PEM, followed by those that issued it, or PFX. Read again as
                                      soon as the file changes. 'treepie secure <directory>' makes one.
          --certificate-key <file>    Its private key, if that is not in the same file.
          --certificate-password <place>
                                      Where the password of either is: file:PATH or env:NAME.
          --admin-certificate <file or thumbprint>
                                      The certificate of an administrator, who registers all others over HTTP. May be given
                                      several times.
          --public-url <address>      The address that clients are told, if it is not the one they use.
          --master-key <source>       Where the key is that encrypts the keys of encrypted databases, which are kept in
                                      <data>/secrets. Without it no key is kept.
          --database-key <name>=<source>
                                      Where the key of one database is; may be given several times.
                                      A source is file:PATH, env:NAME or command:/FULL/PATH ARGUMENTS, with 'passphrase-'
                                      before it for a passphrase. It is never the key itself: every account of this
                                      machine can read the command lines of its programs.
          --backup-folder <name>=<place>
                                      A folder, or s3://bucket/prefix, that requests may name for backups; nothing else of
                                      this machine is written or read for them. May be given several times.
          --s3-endpoint <url>         A server of the S3 protocol that requests may name, with keys of their own.
          --key-source <name>=<source>
                                      A key that requests may name to seal backups with. A source as above.
          --metrics                   Metrics can be fetched at /metrics, in the text form of Prometheus; by operators only
                                      where clients have certificates.
          --otlp-endpoint <url>       Metrics and traces are sent there, by OTLP over HTTP, such as http://127.0.0.1:4318.
                                      OTEL_EXPORTER_OTLP_HEADERS holds what a collector asks for. See docs/reference/metrics.md.
          --slow-request-seconds <n>  Requests that take longer are logged, with the text of their query and how it was run.
          --demo                      Creates the database 'demo' with sample data and prints commands to try.
          --version                   Prints the version.
          --help                      Prints this.

        Limits; seconds may have a fraction:

        {LimitOption.Help()}

        Settings in RavenDB's form are accepted too: --ServerUrl, --DataDir, --RunInMemory (a temporary
        directory, deleted at the end), --PublicServerUrl, --Security.MasterKey.Path, --Security.Certificate.Path and
        --Security.WellKnownCertificates.Admin do what they say, others are named and ignored.

        Stop it with Ctrl+C, SIGTERM, or the line 'q' on its input.
        """;
}
