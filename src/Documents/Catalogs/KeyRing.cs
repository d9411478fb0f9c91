using System.Diagnostics.CodeAnalysis;
using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie.Catalogs;

/// <summary>
/// The keys known to a catalogue: from sources configured per database, from its <see cref="SecretStore"/>, and those held
/// in memory for this run only. Calls for the same database must not be concurrent.
/// </summary>
internal sealed class KeyRing : IDisposable
{
    private readonly string _dataDirectory;
    private readonly DatabaseKeySources _sources;
    private readonly Dictionary<string, KeySource> _ofDatabases;
    private readonly SecretStore? _store;
    private readonly Lock _lock = new();
    private readonly Dictionary<string, EncryptionKey> _held = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Opens the secret store if there is a master key.</summary>
    public KeyRing(string dataDirectory, DatabaseKeySources sources)
    {
        _dataDirectory = dataDirectory;
        _sources = sources;
        _ofDatabases = new Dictionary<string, KeySource>(sources.OfDatabases, StringComparer.OrdinalIgnoreCase);
        _store = sources.MasterKey is null ? null : SecretStore.Open(dataDirectory, sources.MasterKey);
    }

    /// <summary>Throws if keys cannot be stored.</summary>
    /// <exception cref="KeySourceException">There is no master key.</exception>
    public void ThrowIfCannotKeep(string database) => RequireStore(database);

    /// <summary>Returns the source configured for one database.</summary>
    public bool TryGetSource(string database, [MaybeNullWhen(false)] out KeySource source) =>
        _ofDatabases.TryGetValue(database, out source);

    /// <summary>
    /// Returns the keys that may open a database, the most likely first; empty if none is known. The caller disposes them.
    /// </summary>
    /// <exception cref="KeySourceException">The source provides no key.</exception>
    public IReadOnlyList<EncryptionKey> Find(string database)
    {
        if (TryGetSource(database, out KeySource? source))
            return [source.Read()];

        lock (_lock)
            if (_held.TryGetValue(database, out EncryptionKey? held))
                return [Copy(held)];

        return _store?.Find(database) ?? [];
    }

    /// <summary>Stores a key durably, or holds it in memory until the ring is disposed.</summary>
    public void Put(string database, EncryptionKey key, bool keep)
    {
        if (keep)
            RequireStore(database).Put(database, key);
        lock (_lock)
        {
            if (_held.Remove(database, out EncryptionKey? before))
                before.Dispose();
            if (!keep)
                _held.Add(database, Copy(key));
        }
    }

    /// <summary>Records that the key of a database is about to change.</summary>
    public void PutNext(string database, EncryptionKey current, EncryptionKey next)
    {
        if (!IsHeld(database))
            RequireStore(database).Put(database, current, next);
    }

    /// <summary>Records that the key of a database has changed.</summary>
    public void Promote(string database, EncryptionKey key) => Put(database, key, keep: !IsHeld(database));

    /// <summary>Removes stored and held keys of a database. Configured sources remain.</summary>
    public void Remove(string database)
    {
        lock (_lock)
            if (_held.Remove(database, out EncryptionKey? held))
                held.Dispose();
        _store?.Remove(database);
    }

    /// <summary>Explains why no key is known and what to do.</summary>
    public string WhyNone(string database)
    {
        bool isSealed = _store is null && Directory.Exists(Path.Combine(_dataDirectory, SecretStore.FolderName));
        string maybe = isSealed
            ? "It may be in the secrets store, whose master key is not set (--master-key). "
            : _store is null ? "" : "It is not in the secrets store. ";
        return $"Database '{database}' is encrypted, and its key is not there. {maybe}Give it, and the database opens: treepie "
        + $"key give --database {database} --key file:PATH "
            + $"(over HTTP: POST /admin/secrets?name={Uri.EscapeDataString(database)}; in a program: DatabaseCatalog.GiveKey), "
            + $"or set where it is, for instance --database-key {database}=file:PATH.";
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_lock)
        {
            foreach (EncryptionKey key in _held.Values)
                key.Dispose();
            _held.Clear();
        }

        _store?.Dispose();
    }

    private static EncryptionKey Copy(EncryptionKey key)
    {
        using var bytes = new SecretBuffer(EncryptionKey.SizeBytes);
        key.CopyTo(bytes.Free.Span);
        bytes.Advance(EncryptionKey.SizeBytes);
        return EncryptionKey.FromBytes(bytes.Span);
    }

    private bool IsHeld(string database)
    {
        lock (_lock)
            return _held.ContainsKey(database);
    }

    private SecretStore RequireStore(string database) => _store ?? throw new KeySourceException(
        $"The key of '{database}' was not kept: there is no master key to encrypt it with, and it is never written in plain. Set "
        + $"a master key (--master-key file:PATH; 'treepie key generate PATH' makes one), "
        + "or give the key until the next restart only (keep=false, treepie key give --until-restart), or set where it is "
        + "(--database-key).");
}
