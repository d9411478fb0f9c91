using Treepie.Destinations;
using Treepie.S3;

namespace Treepie.Server.Backups;

/// <summary>
/// The backup destinations that requests may use: those named in the server's options, and S3 buckets with credentials sent
/// in the request. All destinations are opened through this class, including those of stored tasks, so requests cannot reach
/// other folders or endpoints, or use the server's own credentials. Thread-safe.
/// </summary>
internal sealed class AllowedPlaces : DestinationProvider
{
    private const int MaxNameLength = 64;

    private readonly IReadOnlyList<DestinationProvider> _providers;
    private readonly Dictionary<string, string> _places;
    private readonly Uri[] _endpoints;

    /// <summary>Copies the options; later changes have no effect.</summary>
    public AllowedPlaces(TreepieServerOptions options)
    {
        _providers = [.. options.Destinations];
        _endpoints = [.. options.S3Endpoints];
        _places = options.BackupFolders.ToDictionary(
            static place => place.Key,
            static place => IsAddress(place.Value)
                ? place.Value
                : Path.TrimEndingDirectorySeparator(Path.GetFullPath(place.Value)),
            StringComparer.Ordinal);
    }

    /// <summary>Rejects names that could be interpreted as paths.</summary>
    /// <exception cref="ArgumentException">The name is not valid.</exception>
    public static void CheckName(string name)
    {
        if (name.Length is 0 or > MaxNameLength
            || name[0] == '.'
            || !name.All(static c => char.IsAsciiLetterOrDigit(c) || c is '_' or '-' or '.'))
            throw new ArgumentException(
                $"'{name}' cannot be the name of a place or a key: it has 1 to {MaxNameLength} letters from A to Z, digits, '_', "
                    + $"'-' and '.', and does not begin with a dot.");
    }

    public override bool Takes(string address) => true;

    public override BackupDestination Open(DestinationSettings settings)
    {
        string address = settings.Address;
        return IsAddress(address)
            ? OpenForeign(settings)
            : Path.IsPathRooted(address) ? OpenPath(address) : OpenNamed(settings, address);
    }

    private static bool IsAddress(string text) => text.Contains("://", StringComparison.Ordinal);

    private BackupDestination OpenForeign(DestinationSettings settings)
    {
        DestinationProvider kind = KindOf(settings.Address);
        if (kind is not S3DestinationProvider)
            throw Refused(
                "Requests reach places of this kind only by a name that the server gives them (--backup-folder NAME=ADDRESS).");
        if (S3DestinationProvider.EndpointOf(settings.Address) is { } endpoint && !_endpoints.Contains(endpoint))
            throw Refused(
                $"The server does not send anything to '{endpoint}': its owner did not allow that endpoint (--s3-endpoint URL).");
        if (!settings.HasKeys)
        {
            throw Refused(
                "The request names a bucket without keys for it, and the server's own keys are used only for places that have a "
                + "name here (--backup-folder NAME=s3://bucket/prefix). "
                + "Send keys along, or name such a place.");
        }

        return kind.Open(settings);
    }

    // An allowed folder may also be given by its path.
    private FolderDestination OpenPath(string path)
    {
        string full = Path.TrimEndingDirectorySeparator(Path.GetFullPath(path));
        foreach ((string _, string place) in _places)
            if (!IsAddress(place)
                && (full == place
                    || full.StartsWith(
                        Path.EndsInDirectorySeparator(place) ? place : place + Path.DirectorySeparatorChar,
                        StringComparison.Ordinal)))
                return new FolderDestination(full, path);
        throw NotAllowed();
    }

    private BackupDestination OpenNamed(DestinationSettings settings, string address)
    {
        string[] parts = address.TrimEnd('/').Split('/');
        if (!_places.TryGetValue(parts[0], out string? place))
            throw NotAllowed();
        foreach (string part in parts.AsSpan(1))
            // A colon is a drive or a stream of a file on Windows.
            if (part.Length == 0 || part[0] == '.' || part.AsSpan().ContainsAny("\\?:\0"))
                throw Refused(
                    "What follows the name of a folder are names of folders below it, which are not empty, do not begin with a "
                        + "dot and hold none of \\ ? :.");

        string below = string.Join('/', parts.AsSpan(1)!);
        if (!IsAddress(place))
            return new FolderDestination(below.Length == 0 ? place : Path.Combine(place, below), address.TrimEnd('/'));

        int question = place.IndexOf('?', StringComparison.Ordinal);
        (string bucket, string parameters) = question < 0 ? (place, "") : (place[..question], place[question..]);
        string whole = below.Length == 0 ? place : $"{bucket.TrimEnd('/')}/{below}{parameters}";
        return KindOf(whole).Open(settings with { Address = whole });
    }

    private DestinationProvider KindOf(string address) => _providers.FirstOrDefault(provider => provider.Takes(address))
        ?? throw new DestinationException(
            DestinationFault.BadAddress,
            "The address is of a kind that this server cannot open. Give the name of a folder, or s3://bucket/prefix.");

    private DestinationException NotAllowed() => Refused(
        "Requests reach a folder only by a name that the server's owner gave it (--backup-folder NAME=PATH). "
        + (_places.Count == 0
            ? "This server has none."
            : $"There are: {string.Join(", ", _places.Keys.Order(StringComparer.Ordinal))}."));

    private static DestinationException Refused(string message) => new(DestinationFault.BadAddress, message);
}
