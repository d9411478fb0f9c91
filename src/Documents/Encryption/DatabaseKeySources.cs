namespace Treepie.Encryption;

/// <summary>The sources of the keys of a catalogue's encrypted databases. Immutable.</summary>
public sealed record DatabaseKeySources
{
    /// <summary>No key sources: keys given to the catalogue are kept in memory until it is closed.</summary>
    public static DatabaseKeySources None { get; } = new();

    /// <summary>
    /// The source of the master key, which encrypts the catalogue's <see cref="SecretStore"/> for the keys given to it. Null:
    /// given keys are not stored.
    /// </summary>
    public KeySource? MasterKey { get; init; }

    /// <summary>The key sources of individual databases, by name (case-insensitive). Their keys are never stored.</summary>
    public IReadOnlyDictionary<string, KeySource> OfDatabases { get; init; } = new Dictionary<string, KeySource>(
        StringComparer.OrdinalIgnoreCase);
}
