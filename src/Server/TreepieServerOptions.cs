using Treepie.Computing;
using Treepie.Destinations;
using Treepie.Encryption;
using Treepie.S3;

namespace Treepie.Server;

/// <summary>Options of the HTTP API. They are read when it is mapped; later changes have no effect.</summary>
public sealed class TreepieServerOptions
{
    /// <summary>
    /// The directory of the databases, with one folder each. Used by <c>MapTreepie()</c>. Default: <c>./data</c>.
    /// </summary>
    public string DataDirectory { get; set; } = "data";

    /// <summary>
    /// Options and limits of the databases that the server opens: document size, nesting, length of ids, query time.
    /// </summary>
    public DatabaseOptions Database { get; set; } = new() { Computing = new TextComputingEngine() };

    /// <summary>
    /// The sources of the keys of encrypted databases. Used by <c>MapTreepie()</c>. Default: keys are given over HTTP after each
    /// start.
    /// </summary>
    public DatabaseKeySources Keys { get; set; } = DatabaseKeySources.None;

    /// <summary>The limits of the HTTP API.</summary>
    public ServerLimits Limits { get; set; } = new();

    /// <summary>
    /// The address that clients are told to use, such as <c>https://db.example.com:8443</c>. Required behind a proxy that changes
    /// the address. Default: null, the address of each request.
    /// </summary>
    public Uri? PublicUrl { get; set; }

    /// <summary>
    /// The duration above which requests are logged, in the category <c>Treepie.Slow</c>, with the text and the plan of their
    /// query. The text may contain personal data. Default: null, none are logged.
    /// </summary>
    public TimeSpan? SlowRequests { get; set; }

    /// <summary>
    /// The kinds of backup destinations, in addition to folders of this machine. Default: S3 and compatible services.
    /// </summary>
    public IList<DestinationProvider> Destinations { get; } = [new S3DestinationProvider()];

    /// <summary>
    /// The places that requests may refer to for backups, by name: a folder of this machine, or an address such as
    /// <c>s3://bucket/prefix</c>. A request gives the name, or the name and a path below it (<c>nightly/shop</c>). The server's
    /// own cloud credentials are used for these places only. Default: none, so that requests cannot access any folder.
    /// </summary>
    public IDictionary<string, string> BackupFolders { get; } = new Dictionary<string, string>(StringComparer.Ordinal);

    /// <summary>
    /// The servers with the S3 protocol, other than Amazon's, that requests with credentials of their own may use. Default: none.
    /// </summary>
    public IList<Uri> S3Endpoints { get; } = [];

    /// <summary>The sources of keys that requests may refer to, by name, for encrypting backups. Default: none.</summary>
    public IDictionary<string, KeySource> KeySources { get; } = new Dictionary<string, KeySource>(StringComparer.Ordinal);

    internal void Validate()
    {
        foreach (string name in BackupFolders.Keys.Concat(KeySources.Keys))
            Backups.AllowedPlaces.CheckName(name);

        if (PublicUrl is not null
            && PublicUrl is not { IsAbsoluteUri: true, Scheme: "http" or "https", Query.Length: 0, Fragment.Length: 0 })
            throw new ArgumentException(
                $"PublicUrl is '{PublicUrl}'; it must be an address such as https://db.example.com:8443.");

        if (SlowRequests is { } slow)
            ArgumentOutOfRangeException.ThrowIfLessThan(slow, TimeSpan.Zero, nameof(SlowRequests));
        ArgumentException.ThrowIfNullOrWhiteSpace(DataDirectory);
        ArgumentNullException.ThrowIfNull(Database);
        ArgumentNullException.ThrowIfNull(Keys);
        ArgumentNullException.ThrowIfNull(Limits);
        Limits.Validate();
    }
}
