using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Catalogs;

/// <summary>
/// A database of a catalogue and its state. Lock order: the gate before the catalogue's lock. Only the holder of the gate
/// may change the entry.
/// </summary>
internal sealed class CatalogEntry(string name, string path)
{
    private volatile bool _isCreated;
    private volatile DatabaseLockedException? _locked;
    private volatile string? _problem;
    private volatile Database? _database;
    private bool? _isEncrypted;
    private long _lockedAt;

    public Lock Gate { get; } = new();

    public string Name { get; } = name;

    public string Path { get; } = path;

    /// <summary>Folders that claim the same name. If there are several, none of them is opened.</summary>
    public IReadOnlyList<string> SameNames { get; init; } = [];

    public bool IsCreated
    {
        get => _isCreated;
        set => _isCreated = value;
    }

    public Database? Database
    {
        get => _database;
        set => _database = value;
    }

    /// <summary>Index of the key that opened the database among the known ones.</summary>
    public int KeyIndex { get; set; }

    /// <summary>
    /// Whether the files are encrypted. Unreadable files count as not encrypted, because opening them reports the actual error.
    /// </summary>
    public bool IsEncrypted => Database?.IsEncrypted ?? (_isEncrypted ??= DatabaseFormat.IsEncrypted(Path));

    public DatabaseDescription Describe()
    {
        Database? database = Database;
        return new DatabaseDescription(
            Name, IsEncrypted, database is not null, database is null ? Ambiguity?.Message ?? _problem : null);
    }

    /// <summary>Throws if several folders claim the name.</summary>
    /// <exception cref="AmbiguousDatabaseException">There are several.</exception>
    public void ThrowIfAmbiguous()
    {
        if (Ambiguity is { } error)
            throw error;
    }

    private AmbiguousDatabaseException? Ambiguity => SameNames.Count == 0 ? null : new AmbiguousDatabaseException(
        $"The folders {string.Join(" and ", SameNames.Select(static name => $"'{name}'"))} are both a database named '{Name}', "
        + $"because names are equal without case. Neither was opened. "
        + "Stop the program, move those away that are not wanted, or give them other names.");

    /// <summary>Returns the key that the database was opened with; the caller disposes it.</summary>
    public EncryptionKey TakeKey(KeyRing keys)
    {
        IReadOnlyList<EncryptionKey> known = keys.Find(Name);
        for (int index = 0; index < known.Count; index++)
            if (index != KeyIndex)
                known[index].Dispose();
        return KeyIndex < known.Count ? known[KeyIndex] : throw new DatabaseLockedException(keys.WhyNone(Name));
    }

    /// <summary>Records why the database stays locked, and returns the exception to throw.</summary>
    public DatabaseLockedException Locked(DatabaseLockedException why, TimeProvider clock)
    {
        _locked = why;
        _lockedAt = clock.GetTimestamp();
        return why;
    }

    /// <summary>Records why the database could not be opened.</summary>
    public void NotOpened(string why) => _problem = why;

    /// <summary>Clears previous errors.</summary>
    public void Opened()
    {
        _locked = null;
        _problem = null;
    }

    /// <summary>Throws the previous error again if it is recent, without asking for the key.</summary>
    public void ThrowIfLockedSince(TimeSpan recently, TimeProvider clock)
    {
        if (_locked is { } why && clock.GetElapsedTime(_lockedAt) < recently)
            throw new DatabaseLockedException(why.Message, why.InnerException);
    }
}
