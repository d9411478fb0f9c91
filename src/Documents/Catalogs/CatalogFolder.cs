using Treepie.Storage;

namespace Treepie.Catalogs;

/// <summary>
/// The directory of a catalogue: locked as long as this lives, with a folder for each database in <c>databases</c>. A folder
/// comes to its name and loses it by being renamed, in one step; while it is made or deleted its name begins with <c>~</c>, which
/// no database's does.
/// </summary>
internal sealed class CatalogFolder : IDisposable
{
    private const string DatabasesFolder = "databases";
    private const string LockFile = "catalog.lock";
    private const char UnfinishedMark = '~';

    private readonly string _databases;
    private readonly IDisposable _lock;

    /// <summary>Makes what is missing, and locks it.</summary>
    /// <exception cref="EnvironmentLockedException">Another catalogue has it open.</exception>
    /// <exception cref="StorageException">It cannot be read or written.</exception>
    public CatalogFolder(string directory, TimeProvider clock)
    {
        Path = directory;
        _databases = System.IO.Path.Combine(directory, DatabasesFolder);
        PrivateFiles.CreateDirectory(_databases);
        _lock = PrivateFiles.LockDirectory(directory, LockFile, clock);
        PrivateFiles.CloseToOthers(_databases); // what an older version made may be open to everybody
    }

    public string Path { get; }

    /// <summary>
    /// All databases. What a crash left half made or half deleted is deleted; what else somebody put there is left alone. Folders
    /// whose names differ by case alone are one database, which stays closed: no order of a directory says which of them it is.
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

    /// <summary>Where a database of that name is or will be.</summary>
    public string PathOf(string name) => System.IO.Path.Combine(_databases, name);

    /// <summary>A path under which it can be made, unknown to the next <see cref="Scan"/>.</summary>
    public string UnfinishedPathOf(string name) => UnfinishedPath("creating", name);

    /// <summary>Refuses a name under which files of a deleted database lie.</summary>
    /// <exception cref="ConcurrencyException">There are some.</exception>
    public void RefuseKept(string name)
    {
        // Names are equal without case, also where the file system tells them apart.
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

    /// <summary>Gives a folder its name, for good.</summary>
    public void Finish(string unfinishedPath, string name)
    {
        Directory.Move(unfinishedPath, PathOf(name));
        PrivateFiles.SyncDirectory(_databases);
    }

    /// <summary>Deletes the files of a database; when its name is gone it is deleted for good, whatever happens then.</summary>
    public void Delete(string name)
    {
        string unfinished = UnfinishedPath("deleted", name);
        Directory.Move(PathOf(name), unfinished);
        PrivateFiles.SyncDirectory(_databases);
        DeleteFolder(unfinished);
    }

    /// <inheritdoc/>
    public void Dispose() => _lock.Dispose();

    private static void DeleteFolder(string path)
    {
        try
        {
            Directory.Delete(path, recursive: true);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // It has lost its name, so the database is gone; the next opening of the catalogue tries again.
        }
    }

    private string UnfinishedPath(string state, string name) =>
        System.IO.Path.Combine(_databases, $"{UnfinishedMark}{state}-{name}-{Guid.NewGuid():N}");
}
