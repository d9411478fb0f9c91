using System.Text.Json.Serialization;

namespace Treepie.Destinations;

/// <summary>The address and credentials of a backup destination. Immutable. <see cref="ToString"/> shows no keys.</summary>
public sealed record DestinationSettings
{
    /// <summary>
    /// The path of a folder, or an address with a scheme, such as <c>s3://bucket/prefix?region=eu-west-1</c>. It contains no
    /// keys.
    /// </summary>
    public required string Address { get; init; }

    /// <summary>The access key id, if the destination needs one that the environment does not provide.</summary>
    public string? AccessKey { get; init; }

    /// <summary>The secret access key.</summary>
    public string? SecretKey { get; init; }

    /// <summary>The session token of temporary credentials.</summary>
    public string? SessionToken { get; init; }

    /// <summary>Whether the settings contain credentials.</summary>
    [JsonIgnore]
    public bool HasKeys => AccessKey is { Length: > 0 } && SecretKey is { Length: > 0 };

    /// <summary>Returns the address, and whether there are credentials.</summary>
    public override string ToString() => HasKeys ? $"{Address} (with keys)" : Address;
}

/// <summary>Opens destinations of one kind. Thread-safe.</summary>
public abstract class DestinationProvider
{
    /// <summary>Returns whether the provider supports an address.</summary>
    public abstract bool Takes(string address);

    /// <summary>Opens a destination without accessing it yet.</summary>
    /// <exception cref="DestinationException">The address is not valid.</exception>
    public abstract BackupDestination Open(DestinationSettings settings);
}

/// <summary>The kinds of destinations that a program supports. Immutable, thread-safe.</summary>
public sealed class DestinationProviders
{
    private readonly DestinationProvider[] _providers;

    /// <summary>Creates a set of the specified providers, which are tried in order, and folders.</summary>
    public DestinationProviders(params IEnumerable<DestinationProvider> providers) =>
        _providers = [.. providers, new FolderProvider()];

    /// <summary>Opens a destination.</summary>
    /// <exception cref="DestinationException">The address is not valid or its kind is not supported.</exception>
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
