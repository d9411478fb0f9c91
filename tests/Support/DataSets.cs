using System.IO.Compression;

namespace Treepie.Tests.Support;

/// <summary>
/// The data sets (movies, cities, wordnet, verses) of <c>samples/datasets</c>. A file of the same name in the folder
/// <c>TREEPIE_DATA</c> takes precedence.
/// </summary>
public static class DataSets
{
    /// <summary>The repository's root: the folder of <c>Engine.sln</c>.</summary>
    public static string RepositoryRoot { get; } = FindRoot();

    /// <summary>Path of a data set, for instance <c>movies.ndjson.gz</c>.</summary>
    public static string PathOf(string file) =>
        Environment.GetEnvironmentVariable("TREEPIE_DATA") is { Length: > 0 } folder
            && Path.Combine(folder, file) is var path
            && File.Exists(path)
            ? path
            : Path.Combine(RepositoryRoot, "samples", "datasets", file);

    /// <summary>The lines of an <c>.ndjson</c> or <c>.ndjson.gz</c> file, one document each.</summary>
    public static IEnumerable<string> Lines(string path)
    {
        using Stream file = File.OpenRead(path);
        using Stream content = path.EndsWith(".gz", StringComparison.Ordinal)
            ? new GZipStream(file, CompressionMode.Decompress)
            : file;
        using var reader = new StreamReader(content);
        while (reader.ReadLine() is { } line)
            if (line.Length > 0)
                yield return line;
    }

    private static string FindRoot()
    {
        for (DirectoryInfo? folder = new(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
            if (File.Exists(Path.Combine(folder.FullName, "Engine.sln")))
                return folder.FullName;

        throw new InvalidOperationException($"No Engine.sln above {AppContext.BaseDirectory}: run the tests from a checkout.");
    }
}
