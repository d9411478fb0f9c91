using System.IO.Compression;

namespace Treepie.Tests.Support;

/// <summary>
/// The full data sets (movies, cities, wordnet, verses), kept beside the repository in <c>../shared/data</c> or where
/// <c>TREEPIE_DATA</c> says. Tests that need them are skipped without them.
/// </summary>
public static class DataSets
{
    /// <summary>The repository's root: the folder of <c>Engine.sln</c>.</summary>
    public static string RepositoryRoot { get; } = FindRoot();

    /// <summary>Path of a data set, for instance <c>movies.ndjson.gz</c>; skips the test where it is missing.</summary>
    public static string Require(string file)
    {
        string path = PathOf(file);
        Requirement.Needs(File.Exists(path), $"The data set '{file}'", "Set TREEPIE_DATA to the folder that holds it.");
        return path;
    }

    /// <summary>Whether a data set is there, for a fixture, which cannot skip its tests itself.</summary>
    public static bool Present(string file) => File.Exists(PathOf(file));

    /// <summary>The lines of an <c>.ndjson</c> or <c>.ndjson.gz</c> file, one document each.</summary>
    public static IEnumerable<string> Lines(string path)
    {
        using Stream file = File.OpenRead(path);
        using Stream content = path.EndsWith(".gz", StringComparison.Ordinal) ? new GZipStream(file, CompressionMode.Decompress) : file;
        using var reader = new StreamReader(content);
        while (reader.ReadLine() is { } line)
            if (line.Length > 0)
                yield return line;
    }

    private static string PathOf(string file)
    {
        string folder = Environment.GetEnvironmentVariable("TREEPIE_DATA") ?? Path.Combine(RepositoryRoot, "..", "shared", "data");
        return Path.GetFullPath(Path.Combine(folder, file));
    }

    private static string FindRoot()
    {
        for (DirectoryInfo? folder = new(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
            if (File.Exists(Path.Combine(folder.FullName, "Engine.sln")))
                return folder.FullName;

        throw new InvalidOperationException($"No Engine.sln above {AppContext.BaseDirectory}: run the tests from a checkout.");
    }
}
