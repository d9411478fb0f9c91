using Treepie.Encryption;
using Treepie.Server.Security;

namespace Treepie.Server.Hosting;

/// <summary>What the program was asked to do on its command line.</summary>
internal sealed record ProgramOptions
{
    /// <summary>Directory of the databases; null: a temporary one, deleted at the end.</summary>
    public string? DataDirectory { get; init; } = "data";

    /// <summary>Addresses to listen on; null: not said.</summary>
    public IReadOnlyList<string>? Urls { get; init; }

    /// <summary>The address that clients are told.</summary>
    public Uri? PublicUrl { get; init; }

    /// <summary>The server's certificate: PEM or PFX.</summary>
    public string? Certificate { get; init; }

    /// <summary>Its private key, if that is in a file of its own.</summary>
    public string? CertificateKey { get; init; }

    /// <summary>Where the password of either is.</summary>
    public SecretPlace? CertificatePassword { get; init; }

    /// <summary>Certificates of administrators: files, or thumbprints.</summary>
    public IReadOnlyList<string> AdminCertificates { get; init; } = [];

    /// <summary>Whether metrics can be fetched at <c>/metrics</c>.</summary>
    public bool Metrics { get; init; }

    /// <summary>Where metrics and traces are sent; null: nowhere.</summary>
    public Uri? OtlpEndpoint { get; init; }

    /// <summary>From how long on a request is logged as slow; null: none is.</summary>
    public TimeSpan? SlowRequests { get; init; }

    /// <summary>Whether to fill a database with sample data.</summary>
    public bool Demo { get; init; }

    /// <summary>Whether to print the options and end.</summary>
    public bool Help { get; init; }

    /// <summary>Whether to print the version and end.</summary>
    public bool Version { get; init; }

    /// <summary>The process with whose end the server ends.</summary>
    public int? ParentProcessId { get; init; }

    /// <summary>Limits that are not to be the default; of two for the same the later counts.</summary>
    public IReadOnlyList<(LimitOption Limit, decimal Value)> Limits { get; init; } = [];

    /// <summary>Where the key of the secrets store comes from; null: no keys are kept.</summary>
    public KeySource? MasterKey { get; init; }

    /// <summary>Databases whose key comes from a source of their own.</summary>
    public IReadOnlyList<(string Database, KeySource Source)> DatabaseKeys { get; init; } = [];

    /// <summary>Folders and buckets that requests may name for backups.</summary>
    public IReadOnlyList<(string Name, string Place)> BackupFolders { get; init; } = [];

    /// <summary>Servers of the S3 protocol that requests may name.</summary>
    public IReadOnlyList<Uri> S3Endpoints { get; init; } = [];

    /// <summary>Keys that requests may name for backups.</summary>
    public IReadOnlyList<(string Name, KeySource Source)> KeySources { get; init; } = [];

    /// <summary>Settings of another server that were understood as such and mean nothing here.</summary>
    public IReadOnlyList<string> Ignored { get; init; } = [];
}
