using Treepie.Computing;
using Treepie.Destinations;
using Treepie.Encryption;
using Treepie.S3;

namespace Treepie.Server;

/// <summary>Settings of the HTTP API. Read once, when it is mapped; a later change has no effect.</summary>
public sealed class TreepieServerOptions
{
    /// <summary>
    /// Directory that holds the databases, one folder each. Used by <c>MapTreepie()</c>. Default <c>./data</c>.
    /// </summary>
    public string DataDirectory { get; set; } = "data";

    /// <summary>
    /// Settings and limits of the databases that the server itself opens: document size, nesting, length of ids, query time.
    /// </summary>
    public DatabaseOptions Database { get; set; } = new() { Computing = new TextComputingEngine() };

    /// <summary>
    /// Where the keys of encrypted databases come from. Used by <c>MapTreepie()</c>. Default: they are given over HTTP after each
    /// start.
    /// </summary>
    public DatabaseKeySources Keys { get; set; } = DatabaseKeySources.None;

    /// <summary>Limits of what clients can make grow.</summary>
    public ServerLimits Limits { get; set; } = new();

    /// <summary>
    /// The address that clients are told to send their requests to, for instance <c>https://db.example.com:8443</c>. Default:
    /// null, the one that each used; a proxy that changes it must be named here.
    /// </summary>
    public Uri? PublicUrl { get; set; }

    /// <summary>
    /// Requests that take longer are logged, in the category <c>Treepie.Slow</c>, with the text of their query and how it was
    /// run. Texts hold what people search for. Default: null, none.
    /// </summary>
    public TimeSpan? SlowRequests { get; set; }

    /// <summary>
    /// Kinds of places to which databases can be backed up, beside folders of this machine. Default: S3 and what is compatible
    /// with it.
    /// </summary>
    public IList<DestinationProvider> Destinations { get; } = [new S3DestinationProvider()];

    /// <summary>
    /// Places that requests may name to keep and find backups: a name, and a folder of this machine or an address such as
    /// <c>s3://bucket/prefix</c>. A request says the name, or the name and what is below it (<c>nightly/shop</c>). The server's
    /// own keys for clouds are used for these places only. Default: none, so that requests reach no folder.
    /// </summary>
    public IDictionary<string, string> BackupFolders { get; } = new Dictionary<string, string>(StringComparer.Ordinal);

    /// <summary>
    /// Servers of the S3 protocol, beside those of Amazon, that requests with keys of their own may name. Default: none.
    /// </summary>
    public IList<Uri> S3Endpoints { get; } = [];

    /// <summary>Keys that requests may name to seal backups with: a name, and where the key is. Default: none.</summary>
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
