using System.IO.Compression;

namespace Treepie.Bench.Measuring;

/// <summary>The documents of a run: a full data set where it is found, else the samples of the repository.</summary>
internal static class Corpus
{
    /// <summary>The folder of <c>Engine.sln</c>.</summary>
    public static string RepositoryRoot { get; } = FindRoot();

    /// <summary>The lines of a data set (<c>TREEPIE_DATA</c> or <c>../shared/data</c>), each a JSON document in UTF-8.</summary>
    public static IReadOnlyList<byte[]> Load(string file, int most)
    {
        string folder = Environment.GetEnvironmentVariable("TREEPIE_DATA") ?? Path.Combine(RepositoryRoot, "..", "shared", "data");
        string path = new[] { Path.Combine(folder, file), Path.Combine(RepositoryRoot, "samples", file) }.FirstOrDefault(File.Exists) ?? Path.Combine(folder, file);
        if (!File.Exists(path))
            throw new FileNotFoundException($"No data set at {path}. Set TREEPIE_DATA to the folder that holds {file}.", path);

        using var content = new GZipStream(File.OpenRead(path), CompressionMode.Decompress);
        using var reader = new StreamReader(content);
        var documents = new List<byte[]>();
        while (documents.Count < most && reader.ReadLine() is { } line)
            documents.Add(System.Text.Encoding.UTF8.GetBytes(line));
        return documents;
    }

    private static string FindRoot()
    {
        for (DirectoryInfo? folder = new(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
            if (File.Exists(Path.Combine(folder.FullName, "Engine.sln")))
                return folder.FullName;

        throw new InvalidOperationException($"No Engine.sln above {AppContext.BaseDirectory}: run the benchmarks from a checkout.");
    }
}
