using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Catalogs;

/// <summary>
/// A database of a catalogue and what is known of it. Its gate is taken before the catalogue's lock, never after; all but the
/// first properties are its holder's.
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

    /// <summary>The folders that claim the name, where there are several; none of them is opened then.</summary>
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

    /// <summary>Which of the keys known for it opened it.</summary>
    public int KeyIndex { get; set; }

    /// <summary>
    /// Whether its files say that they are encrypted. What cannot be read counts as plain: opening it tells what is wrong.
    /// </summary>
    public bool IsEncrypted => Database?.IsEncrypted ?? (_isEncrypted ??= DatabaseFormat.IsEncrypted(Path));

    public DatabaseDescription Describe()
    {
        Database? database = Database;
        return new DatabaseDescription(
            Name, IsEncrypted, database is not null, database is null ? Ambiguity?.Message ?? _problem : null);
    }

    /// <summary>Refuses to choose between folders that claim the same name.</summary>
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

    /// <summary>The key it was opened with, to be disposed.</summary>
    public EncryptionKey TakeKey(KeyRing keys)
    {
        IReadOnlyList<EncryptionKey> known = keys.Find(Name);
        for (int index = 0; index < known.Count; index++)
            if (index != KeyIndex)
                known[index].Dispose();
        return KeyIndex < known.Count ? known[KeyIndex] : throw new DatabaseLockedException(keys.WhyNone(Name));
    }

    /// <summary>Notes why it stays closed, and gives that to throw.</summary>
    public DatabaseLockedException Locked(DatabaseLockedException why, TimeProvider clock)
    {
        _locked = why;
        _lockedAt = clock.GetTimestamp();
        return why;
    }

    /// <summary>Notes why it could not be opened.</summary>
    public void NotOpened(string why) => _problem = why;

    /// <summary>Forgets why it could not be opened before.</summary>
    public void Opened()
    {
        _locked = null;
        _problem = null;
    }

    /// <summary>Says again why it stays closed, for a while, without asking for the key again.</summary>
    public void ThrowIfLockedSince(TimeSpan recently, TimeProvider clock)
    {
        if (_locked is { } why && clock.GetElapsedTime(_lockedAt) < recently)
            throw new DatabaseLockedException(why.Message, why.InnerException);
    }
}
