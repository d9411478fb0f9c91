namespace Treepie.Encryption;

/// <summary>Where a catalogue finds the keys of its encrypted databases. Immutable.</summary>
public sealed record DatabaseKeySources
{
    /// <summary>No source at all: keys that are given are held until the catalogue is closed.</summary>
    public static DatabaseKeySources None { get; } = new();

    /// <summary>
    /// The key that encrypts the catalogue's <see cref="SecretStore"/>, in which it keeps the keys given to it; null: it keeps
    /// none.
    /// </summary>
    public KeySource? MasterKey { get; init; }

    /// <summary>Databases, by name without case, whose key comes from a source of their own and is never kept.</summary>
    public IReadOnlyDictionary<string, KeySource> OfDatabases { get; init; } = new Dictionary<string, KeySource>(
        StringComparer.OrdinalIgnoreCase);
}
