using Treepie.CommandLine.Keys;
using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie.CommandLine.Offline;

/// <summary>
/// The keys of encrypted environments in a directory. The secrets store is opened with the master key. The key of a database's
/// documents comes from its own source, otherwise from the secrets store, otherwise from the common key. The key of an index is
/// derived from its documents. Each key is read when first needed, and only once.
/// </summary>
internal sealed class DirectoryKeys(
    Shell shell, DataDirectory directory, KeyArgument? key, KeySource? masterKey,
    IReadOnlyList<(string Database, KeyArgument Key)> databaseKeys) : IDisposable
{
    private const string DatabasesFolder = "databases", IndexPurpose = "index/";

    private readonly Dictionary<string, EncryptionKey> _known = new(StringComparer.Ordinal);
    private SecretStore? _store;

    /// <summary>The directory.</summary>
    public DataDirectory Directory => directory;

    /// <summary>Returns the key of an environment, which this object owns, or null if it is not encrypted.</summary>
    /// <exception cref="UsageException">The environment is encrypted, and no source for its key is given.</exception>
    /// <exception cref="KeySourceException">The source provides no key.</exception>
    /// <exception cref="StorageException">The environment is an index whose documents cannot be opened.</exception>
    public EncryptionKey? Of(string environment, CancellationToken cancellationToken)
    {
        if (!IsEncrypted(environment))
            return null;
        if (!_known.TryGetValue(environment, out EncryptionKey? found))
            _known.Add(environment, found = Find(environment, cancellationToken));
        return found;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (EncryptionKey known in _known.Values)
            known.Dispose();
        _known.Clear();
        _store?.Dispose();
    }

    /// <summary>
    /// Whether an environment is encrypted. If it is too damaged to tell, it counts as encrypted if any key is given.
    /// </summary>
    private bool IsEncrypted(string environment)
    {
        try
        {
            return EnvironmentKeys.IsEncryptedAt(environment);
        }
        catch (StorageException)
        {
            return key is not null || masterKey is not null || databaseKeys.Count > 0;
        }
    }

    private EncryptionKey Find(string environment, CancellationToken cancellationToken)
    {
        if (DataDirectory.DocumentsOf(environment) is { } documents)
            return OfIndex(documents, Path.GetFileName(Path.GetDirectoryName(environment)) ?? "", cancellationToken);
        if (Path.GetFileName(environment) == SecretStore.FolderName && masterKey is not null)
            return masterKey.Read(cancellationToken);

        string database = DatabaseOf(environment);
        foreach ((string name, KeyArgument named) in databaseKeys)
            if (string.Equals(name, database, StringComparison.OrdinalIgnoreCase))
                return named.Read(shell, $"database '{name}'", cancellationToken);
        if (Kept(environment, database) is { } kept)
            return kept;
        return key?.Read(shell, $"'{environment}'", cancellationToken) ?? throw new UsageException(
            $"'{environment}' is encrypted. Say where its key is: --key SOURCE; in the data directory of a server --master-key "
                + $"SOURCE or --database-key {database}=SOURCE. Nothing was done.");
    }

    private EncryptionKey OfIndex(string documents, string folder, CancellationToken cancellationToken)
    {
        using StorageEnvironment main = StorageEnvironment.Open(
            documents, new StorageOptions { ReadOnly = true, EncryptionKey = Of(documents, cancellationToken) });
        return main.DeriveKey(IndexPurpose + folder);
    }

    private EncryptionKey? Kept(string environment, string database)
    {
        if (masterKey is null)
            return null;
        if (_store is null && DataDirectoryOf(environment) is { } data)
            _store = SecretStore.Open(data, masterKey, readOnly: true);
        IReadOnlyList<EncryptionKey> kept = _store?.Find(database) ?? [];
        if (kept.Count == 0)
            return null;
        int right = 0; // ends at the last one if no other fits
        while (right + 1 < kept.Count && !Opens(environment, kept[right]))
            kept[right++].Dispose();
        foreach (EncryptionKey other in kept.Skip(right + 1))
            other.Dispose();
        return kept[right];
    }

    private static bool Opens(string environment, EncryptionKey candidate)
    {
        try
        {
            return EnvironmentKeys.IsKeyOf(environment, candidate);
        }
        catch (StorageException)
        {
            return false; // too damaged to tell
        }
    }

    /// <summary>Database name from the path …/<c>name</c>/documents.</summary>
    private static string DatabaseOf(string environment) => Path.GetFileName(Path.GetDirectoryName(environment)) ?? "";

    /// <summary>The server's data directory above …/databases/<c>name</c>/documents, if it has a secrets store.</summary>
    private string? DataDirectoryOf(string environment)
    {
        string? data = Path.GetDirectoryName(Path.GetDirectoryName(Path.GetDirectoryName(environment)));
        bool isServer = Path.GetFileName(Path.GetDirectoryName(Path.GetDirectoryName(environment))) == DatabasesFolder;
        return isServer && data is not null && System.IO.Directory.Exists(Path.Combine(data, SecretStore.FolderName)) ? data
            : System.IO.Directory.Exists(Path.Combine(directory.Path, SecretStore.FolderName)) ? directory.Path
            : null;
    }
}
