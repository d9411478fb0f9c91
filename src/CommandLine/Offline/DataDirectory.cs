namespace Treepie.CommandLine.Offline;

/// <summary>
/// A directory on this machine that holds environments, at any depth: one of them alone, a database (its documents and its
/// indexes), or all that a server has.
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

    /// <summary>The directory itself.</summary>
    public string Path { get; }

    /// <summary>Directories of all environments, in order.</summary>
    public IReadOnlyList<string> Environments { get; }

    /// <summary>Looks for environments; throws <see cref="UsageException"/> where there is none.</summary>
    public static DataDirectory Open(DirectoryInfo directory)
    {
        string path = System.IO.Path.GetFullPath(directory.FullName);
        if (!Directory.Exists(path))
            throw new UsageException($"There is no directory '{path}'.");

        string[] found = [.. Directory.EnumerateFiles(path, DataFile, _everything)
            .Concat(Directory.EnumerateFiles(path, JournalFiles, _everything)) // also where the data file is gone
            .Select(file => System.IO.Path.GetDirectoryName(file)!) // a file of a directory has one
            .Distinct(StringComparer.Ordinal)
            .Order(StringComparer.Ordinal)];
        return found.Length > 0
            ? new DataDirectory(path, found)
            : throw new UsageException(
                $"'{path}' holds no environment: no '{DataFile}' is in it or below. Give the data directory of a server, or a "
                    + $"database in it.");
    }

    /// <summary>The one environment whose key is the user's: the documents of a database, or the only one there is.</summary>
    /// <exception cref="UsageException">There are several: each database has a key of its own.</exception>
    public string MainEnvironment() => Environments.Where(environment => !IsIndex(environment)).ToArray() is [var only]
        ? only
        : throw new UsageException(
            $"'{Path}' holds more than one database. Give the directory of one, for instance "
                + $"'{System.IO.Path.GetDirectoryName(Environments[0])}': each has a key of its own.");

    /// <summary>How an environment is called in messages: its place in the directory.</summary>
    public string NameOf(string environment)
    {
        string name = System.IO.Path.GetRelativePath(Path, environment);
        return name == "." ? System.IO.Path.GetFileName(Path) : name;
    }

    /// <summary>The place of an environment in another directory.</summary>
    public string PlaceIn(string target, string environment) =>
        System.IO.Path.GetFullPath(System.IO.Path.Combine(target, System.IO.Path.GetRelativePath(Path, environment)));

    /// <summary>
    /// Whether an environment is an index of a database: …/indexes/<c>name</c>/store beside …/documents. The server builds it
    /// again from the documents, and must where some of these were lost.
    /// </summary>
    public static bool IsIndex(string environment) => DocumentsOf(environment) is not null;

    /// <summary>The environment of the documents that an index belongs to; null where it is no index.</summary>
    public static string? DocumentsOf(string environment) =>
        Directory.GetParent(environment)?.Parent is { Name: IndexesFolder, Parent: { } database }
            && System.IO.Path.Combine(database.FullName, DocumentsFolder) is { } documents
            && Directory.Exists(documents)
            ? documents
            : null;

    /// <summary>
    /// Copies what lies beside an index and is no part of it: its definition. From that the server builds it again.
    /// </summary>
    public void CopyDefinition(string index, string target)
    {
        string folder = System.IO.Path.GetDirectoryName(index)!; // an index is not the root of a disk
        string to = PlaceIn(target, folder);
        Directory.CreateDirectory(to);
        foreach (string file in Directory.EnumerateFiles(folder))
            File.Copy(file, System.IO.Path.Combine(to, System.IO.Path.GetFileName(file)), overwrite: false);
    }
}
