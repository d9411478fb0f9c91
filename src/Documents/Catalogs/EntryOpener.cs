using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie.Catalogs;

/// <summary>Opens the databases of a catalogue with the known keys. Callers must hold the entry's gate.</summary>
internal sealed class EntryOpener(DatabaseOptions options, KeyRing keys, SharedDefinitions shared)
{
    /// <summary>
    /// After a key failed to open its database, its source is not used again for this long: it may run a program, and
    /// requests for the database may be frequent.
    /// </summary>
    private static readonly TimeSpan _keyRetryDelay = TimeSpan.FromSeconds(5);

    /// <summary>Returns the key for a database to be created; the caller disposes it.</summary>
    public EncryptionKey KeyOfNew(string name)
    {
        try
        {
            IReadOnlyList<EncryptionKey> found = keys.Find(name);
            foreach (EncryptionKey other in found.Skip(1))
                other.Dispose(); // left over from a deleted database
            return found.Count > 0
                ? found[0]
                : throw new DatabaseLockedException($"{keys.WhyNone(name)} The database was not created.");
        }
        catch (KeySourceException error)
        {
            throw new DatabaseLockedException(
                $"Database '{name}' was not created: it is to be encrypted, but has no key. {error.Message}", error);
        }
    }

    /// <summary>Opens a database, with its key if it is encrypted.</summary>
    public Database Open(CatalogEntry entry)
    {
        try
        {
            Database opened = !entry.IsEncrypted && !keys.TryGetSource(entry.Name, out _)
                ? Database.Open(entry.Path, options with { Name = entry.Name }, shared)
                : OpenWithKey(entry);
            entry.Opened();
            return opened;
        }
        catch (TreepieException error)
        {
            entry.NotOpened(error.Message);
            throw;
        }
    }

    private Database OpenWithKey(CatalogEntry entry)
    {
        entry.ThrowIfLockedSince(_keyRetryDelay, options.TimeProvider);
        IReadOnlyList<EncryptionKey> found = [];
        try
        {
            found = keys.Find(entry.Name);
            return found.Count > 0 ? OpenWithAny(entry, found) : throw new DatabaseLockedException(keys.WhyNone(entry.Name));
        }
        catch (KeySourceException error)
        {
            throw entry.Locked(
                new DatabaseLockedException(
                    $"Database '{entry.Name}' is encrypted, and its key could not be read. {error.Message}", error),
                options.TimeProvider);
        }
        catch (EncryptionKeyException error)
        {
            string origin = keys.TryGetSource(entry.Name, out KeySource? source)
                ? $"{source.Description} gives a key that does not open it"
                : "the key that is kept for it does not open it";
            throw entry.Locked(
                new DatabaseLockedException($"Database '{entry.Name}' stays closed: {origin}. {error.Message}", error),
                options.TimeProvider);
        }
        finally
        {
            foreach (EncryptionKey key in found)
                key.Dispose();
        }
    }

    /// <summary>
    /// Opens a database with the first key that fits. There is more than one only if a change of the key was interrupted.
    /// </summary>
    private Database OpenWithAny(CatalogEntry entry, IReadOnlyList<EncryptionKey> candidates)
    {
        for (int index = 0; ; index++)
        {
            try
            {
                Database database = Database.Open(
                    entry.Path, options with { Name = entry.Name, EncryptionKey = candidates[index] }, shared);
                entry.KeyIndex = index;
                return database;
            }
            catch (EncryptionKeyException) when (index + 1 < candidates.Count)
            {
                // Try the next key.
            }
        }
    }

    /// <summary>Opens a database with the given key, or verifies that it is already open with this key.</summary>
    public void Unlock(CatalogEntry entry, EncryptionKey given)
    {
        if (!entry.IsEncrypted)
            throw new KeySourceException(
                $"Database '{entry.Name}' is not encrypted, so it takes no key. Encryption is chosen when a database is made.");
        if (entry.Database is not null)
        {
            using EncryptionKey current = entry.TakeKey(keys);
            if (!SecretStore.AreEqual(current, given))
                throw new KeySourceException(
                    $"Database '{entry.Name}' is open with another key. To change its key, ask for that: treepie key change "
                        + $"--database {entry.Name}.");
            return;
        }

        try
        {
            entry.Database = OpenWithAny(entry, [given]);
            entry.Opened();
        }
        catch (EncryptionKeyException error)
        {
            throw new DatabaseLockedException(
                $"The key that was given does not open database '{entry.Name}', and was not kept. {error.Message}", error);
        }
    }

    /// <summary>Throws if a different key was given before, because that may be the only copy.</summary>
    public void RefuseOther(string name, EncryptionKey given)
    {
        foreach (EncryptionKey key in keys.Find(name))
        {
            using (key)
                if (!SecretStore.AreEqual(key, given))
                    throw new ConcurrencyException(
                        $"Another key was given for '{name}' before, and it may be the only copy. It was left as it is; "
                            + $"overwrite=true (--overwrite) replaces it.");
        }
    }
}
