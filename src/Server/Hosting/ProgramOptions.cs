using Treepie.Encryption;
using Treepie.Server.Security;

namespace Treepie.Server.Hosting;

/// <summary>The options given on the command line.</summary>
internal sealed record ProgramOptions
{
    /// <summary>The directory of the databases; null: a temporary one, deleted when the server stops.</summary>
    public string? DataDirectory { get; init; } = "data";

    /// <summary>The addresses to listen on; null: the default.</summary>
    public IReadOnlyList<string>? Urls { get; init; }

    /// <summary>The address that clients are told to use.</summary>
    public Uri? PublicUrl { get; init; }

    /// <summary>The file of the server's certificate: PEM or PFX.</summary>
    public string? Certificate { get; init; }

    /// <summary>The file of its private key, if that is separate.</summary>
    public string? CertificateKey { get; init; }

    /// <summary>The source of the password of either file.</summary>
    public SecretPlace? CertificatePassword { get; init; }

    /// <summary>The certificates of administrators: files or thumbprints.</summary>
    public IReadOnlyList<string> AdminCertificates { get; init; } = [];

    /// <summary>Whether metrics are available at <c>/metrics</c>.</summary>
    public bool Metrics { get; init; }

    /// <summary>The address to which metrics and traces are sent; null: not sent.</summary>
    public Uri? OtlpEndpoint { get; init; }

    /// <summary>The duration above which requests are logged as slow; null: none are.</summary>
    public TimeSpan? SlowRequests { get; init; }

    /// <summary>Whether to create the database with sample data.</summary>
    public bool Demo { get; init; }

    /// <summary>Whether to print the options and exit.</summary>
    public bool Help { get; init; }

    /// <summary>Whether to print the version and exit.</summary>
    public bool Version { get; init; }

    /// <summary>The process whose exit also stops the server.</summary>
    public int? ParentProcessId { get; init; }

    /// <summary>Limits other than the defaults; if one is given twice, the last value applies.</summary>
    public IReadOnlyList<(LimitOption Limit, decimal Value)> Limits { get; init; } = [];

    /// <summary>The source of the key that encrypts the secrets store; null: keys are not stored.</summary>
    public KeySource? MasterKey { get; init; }

    /// <summary>The key sources of individual databases.</summary>
    public IReadOnlyList<(string Database, KeySource Source)> DatabaseKeys { get; init; } = [];

    /// <summary>The folders and buckets that requests may name for backups.</summary>
    public IReadOnlyList<(string Name, string Place)> BackupFolders { get; init; } = [];

    /// <summary>The servers with the S3 protocol that requests may name.</summary>
    public IReadOnlyList<Uri> S3Endpoints { get; init; } = [];

    /// <summary>The keys that requests may name for backups.</summary>
    public IReadOnlyList<(string Name, KeySource Source)> KeySources { get; init; } = [];

    /// <summary>Settings of RavenDB that were recognized but have no equivalent here.</summary>
    public IReadOnlyList<string> Ignored { get; init; } = [];
}
