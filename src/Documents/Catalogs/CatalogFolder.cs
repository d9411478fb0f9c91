using Treepie.Storage;

namespace Treepie.Catalogs;

/// <summary>
/// The directory of a catalogue, locked until disposed, with a folder for each database in <c>databases</c>. Databases are
/// created and deleted atomically by renaming their folder. While a folder is unfinished its name begins with <c>~</c>,
/// which no database name does.
/// </summary>
internal sealed class CatalogFolder : IDisposable
{
    private const string DatabasesFolder = "databases";
    private const string SharedFolder = "shared";
    private const string LockFile = "catalog.lock";
    private const char UnfinishedMark = '~';

    private readonly string _databases;
    private readonly IDisposable _lock;

    /// <summary>Creates the directory if necessary and locks it.</summary>
    /// <exception cref="EnvironmentLockedException">Another catalogue has the directory open.</exception>
    /// <exception cref="StorageException">The directory cannot be read or written.</exception>
    public CatalogFolder(string directory, TimeProvider clock)
    {
        Path = directory;
        _databases = System.IO.Path.Combine(directory, DatabasesFolder);
        PrivateFiles.CreateDirectory(_databases);
        _lock = PrivateFiles.LockDirectory(directory, LockFile, clock);
        PrivateFiles.CloseToOthers(_databases); // folders created by older versions may be accessible to everybody
    }

    public string Path { get; }

    /// <summary>The folder of the definitions that all databases share.</summary>
    public string SharedPath => System.IO.Path.Combine(Path, SharedFolder);

    /// <summary>Whether there are shared definitions.</summary>
    public bool HasShared => Directory.Exists(SharedPath);

    /// <summary>
    /// Lists all databases. Deletes folders left half created or half deleted by a crash, and ignores other folders. Folders
    /// whose names differ only in case count as one database, which stays closed, because nothing determines which of them
    /// is meant.
    /// </summary>
    public IReadOnlyList<CatalogEntry> Scan()
    {
        var folders = new List<string>();
        foreach (string path in Directory.GetDirectories(_databases))
        {
            string name = System.IO.Path.GetFileName(path);
            if (name.StartsWith(UnfinishedMark))
                DeleteFolder(path);
            else if (DatabaseName.IsFolder(name))
                folders.Add(name);
        }

        return
        [
            .. folders.GroupBy(static name => name, StringComparer.OrdinalIgnoreCase).Select(same =>
            {
                string[] names = [.. same.Order(StringComparer.Ordinal)];
                return new CatalogEntry(names[0], PathOf(names[0]))
                {
                    IsCreated = true,
                    SameNames = names.Length > 1 ? names : []
                };
            }),
        ];
    }

    /// <summary>Path of the database with this name, whether or not it exists.</summary>
    public string PathOf(string name) => System.IO.Path.Combine(_databases, name);

    /// <summary>Returns a temporary path for creating a database, which <see cref="Scan"/> does not list.</summary>
    public string UnfinishedPathOf(string name) => UnfinishedPath("creating", name);

    /// <summary>Throws if files of a deleted database with this name were kept.</summary>
    /// <exception cref="ConcurrencyException">There are kept files.</exception>
    public void RefuseKept(string name)
    {
        // Names are compared ignoring case, even if the file system is case-sensitive.
        var anyCase = new EnumerationOptions { MatchCasing = MatchCasing.CaseInsensitive };
        if (Directory.EnumerateDirectories(_databases, name, anyCase)
            .Select(System.IO.Path.GetFileName)
            .FirstOrDefault() is { } kept)
        {
            throw new ConcurrencyException(
                $"A database named '{kept}' was deleted and its files kept in the folder '{DatabasesFolder}/{kept}'. Move them "
                    + $"away, choose another name, or restart to have it back.");
        }
    }

    /// <summary>Durably renames an unfinished folder to its final name.</summary>
    public void Finish(string unfinishedPath, string name) => PrivateFiles.MoveDirectory(unfinishedPath, PathOf(name));

    /// <summary>
    /// Deletes the files of a database. The deletion is durable once the folder is renamed, even if deleting its files fails.
    /// </summary>
    public void Delete(string name)
    {
        string unfinished = UnfinishedPath("deleted", name);
        PrivateFiles.MoveDirectory(PathOf(name), unfinished);
        DeleteFolder(unfinished);
    }

    /// <summary>Deletes an unfinished database as far as possible.</summary>
    public static void DeleteFolder(string path)
    {
        try
        {
            Directory.Delete(path, recursive: true);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // The renamed folder no longer counts as a database. The next opening of the catalogue deletes it.
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _lock.Dispose();

    private string UnfinishedPath(string state, string name) =>
        System.IO.Path.Combine(_databases, $"{UnfinishedMark}{state}-{name}-{Guid.NewGuid():N}");
}
