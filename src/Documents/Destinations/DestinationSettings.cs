using System.Text.Json.Serialization;

namespace Treepie.Destinations;

/// <summary>Where backups go, as it is written down. Immutable. Its text shows no keys.</summary>
public sealed record DestinationSettings
{
    /// <summary>
    /// A folder's path, or an address with a scheme, for instance <c>s3://bucket/prefix?region=eu-west-1</c>. Keys do not stand
    /// in it.
    /// </summary>
    public required string Address { get; init; }

    /// <summary>Name of the keys, where the place wants some and the environment does not give them.</summary>
    public string? AccessKey { get; init; }

    /// <summary>The secret one.</summary>
    public string? SecretKey { get; init; }

    /// <summary>What belongs to keys that are valid for a while.</summary>
    public string? SessionToken { get; init; }

    /// <summary>Whether it has keys of its own.</summary>
    [JsonIgnore]
    public bool HasKeys => AccessKey is { Length: > 0 } && SecretKey is { Length: > 0 };

    /// <summary>The address, and whether there are keys.</summary>
    public override string ToString() => HasKeys ? $"{Address} (with keys)" : Address;
}

/// <summary>Opens places of one kind. Thread-safe.</summary>
public abstract class DestinationProvider
{
    /// <summary>Whether it opens addresses such as this.</summary>
    public abstract bool Takes(string address);

    /// <summary>Opens a place; asks nobody anything yet.</summary>
    /// <exception cref="DestinationException">The address is not valid.</exception>
    public abstract BackupDestination Open(DestinationSettings settings);
}

/// <summary>All kinds of places a program can use. Immutable, thread-safe.</summary>
public sealed class DestinationProviders
{
    private readonly DestinationProvider[] _providers;

    /// <summary>These kinds, asked in their order, and folders.</summary>
    public DestinationProviders(params IEnumerable<DestinationProvider> providers) =>
        _providers = [.. providers, new FolderProvider()];

    /// <summary>Opens a place.</summary>
    /// <exception cref="DestinationException">The address is not valid, or of a kind that this program does not have.</exception>
    public BackupDestination Open(DestinationSettings settings)
    {
        ArgumentNullException.ThrowIfNull(settings);
        if (string.IsNullOrWhiteSpace(settings.Address))
            throw new DestinationException(
                DestinationFault.BadAddress, "A place for backups has no address. Give a folder, or s3://bucket/prefix.");

        return Array.Find(_providers, provider => provider.Takes(settings.Address)) is { } found
            ? found.Open(settings)
            : throw new DestinationException(
                DestinationFault.BadAddress,
                $"'{settings.Address}' is of a kind that this program cannot open. Give a folder, or another address.");
    }

    private sealed class FolderProvider : DestinationProvider
    {
        public override bool Takes(string address) => !address.Contains("://", StringComparison.Ordinal);

        public override BackupDestination Open(DestinationSettings settings) => new FolderDestination(settings.Address);
    }
}
