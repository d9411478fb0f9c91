namespace Treepie.CommandLine.Offline;

/// <summary>
/// A directory that contains environments at any depth: a single one, a database (its documents and indexes), or the data of a
/// whole server.
/// </summary>
internal sealed class DataDirectory
{
    private const string DataFile = "data.treepie";
    private const string JournalFiles = "journal-*.treepie";
    private const string DocumentsFolder = "documents";
    private const string IndexesFolder = "indexes";

    private static readonly EnumerationOptions _everything = new()
    {
        RecurseSubdirectories = true,
        IgnoreInaccessible = false,
        AttributesToSkip = FileAttributes.ReparsePoint
    };

    private DataDirectory(string path, IReadOnlyList<string> environments)
    {
        Path = path;
        Environments = environments;
    }

    /// <summary>Path of the directory.</summary>
    public string Path { get; }

    /// <summary>Directories of all environments, sorted.</summary>
    public IReadOnlyList<string> Environments { get; }

    /// <summary>Finds the environments. Throws <see cref="UsageException"/> if there are none.</summary>
    public static DataDirectory Open(DirectoryInfo directory)
    {
        string path = System.IO.Path.GetFullPath(directory.FullName);
        if (!Directory.Exists(path))
            throw new UsageException($"There is no directory '{path}'.");

        string[] found = [.. Directory.EnumerateFiles(path, DataFile, _everything)
            .Concat(Directory.EnumerateFiles(path, JournalFiles, _everything)) // also if the data file is missing
            .Select(file => System.IO.Path.GetDirectoryName(file)!) // the path of a file has a directory
            .Distinct(StringComparer.Ordinal)
            .Order(StringComparer.Ordinal)];
        return found.Length > 0
            ? new DataDirectory(path, found)
            : throw new UsageException(
                $"'{path}' contains no environment: there is no '{DataFile}' in it or below. Use the data directory of a server, "
                    + $"or a database in it.");
    }

    /// <summary>
    /// Returns the one environment whose key the user holds: the documents of a database, or the only environment.
    /// </summary>
    /// <exception cref="UsageException">There are several, each with its own key.</exception>
    public string MainEnvironment() => Environments.Where(environment => !IsIndex(environment)).ToArray() is [var only]
        ? only
        : throw new UsageException(
            $"'{Path}' holds more than one database. Give the directory of one, for instance "
                + $"'{System.IO.Path.GetDirectoryName(Environments[0])}': each has a key of its own.");

    /// <summary>Name of an environment in messages: its path relative to the directory.</summary>
    public string NameOf(string environment)
    {
        string name = System.IO.Path.GetRelativePath(Path, environment);
        return name == "." ? System.IO.Path.GetFileName(Path) : name;
    }

    /// <summary>The corresponding path of an environment in another directory.</summary>
    public string PlaceIn(string target, string environment) =>
        System.IO.Path.GetFullPath(System.IO.Path.Combine(target, System.IO.Path.GetRelativePath(Path, environment)));

    /// <summary>
    /// Whether an environment is an index of a database, …/indexes/<c>name</c>/store beside …/documents. The server rebuilds
    /// indexes from the documents, which is necessary if documents were lost.
    /// </summary>
    public static bool IsIndex(string environment) => DocumentsOf(environment) is not null;

    /// <summary>The documents environment that an index belongs to, or null if this is not an index.</summary>
    public static string? DocumentsOf(string environment) =>
        Directory.GetParent(environment)?.Parent is { Name: IndexesFolder, Parent: { } database }
            && System.IO.Path.Combine(database.FullName, DocumentsFolder) is { } documents
            && Directory.Exists(documents)
            ? documents
            : null;

    /// <summary>
    /// Copies the files beside an index, which hold its definition. The server rebuilds the index from that.
    /// </summary>
    public void CopyDefinition(string index, string target)
    {
        string folder = System.IO.Path.GetDirectoryName(index)!; // an index is not at the root of a volume
        string to = PlaceIn(target, folder);
        Directory.CreateDirectory(to);
        foreach (string file in Directory.EnumerateFiles(folder))
            File.Copy(file, System.IO.Path.Combine(to, System.IO.Path.GetFileName(file)), overwrite: false);
    }
}
