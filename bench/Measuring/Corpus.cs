using System.IO.Compression;
using System.Security.Cryptography;
using System.Text;

namespace Treepie.Bench.Measuring;

/// <summary>
/// Reads the data sets of a run: from the folder that <c>TREEPIE_DATA</c> names, else from <c>samples/datasets</c> in the
/// repository, which holds small sets whole and a part of large ones.
/// </summary>
internal static class Corpus
{
    private const string FolderVariable = "TREEPIE_DATA";

    /// <summary>The folder of <c>Engine.sln</c>.</summary>
    public static string RepositoryRoot { get; } = FindRoot();

    /// <summary>Path of a file among the data sets.</summary>
    public static string PathOf(string file) =>
        Environment.GetEnvironmentVariable(FolderVariable) is { Length: > 0 } folder
            && Path.Combine(folder, file) is var path
            && File.Exists(path)
            ? path
            : Path.Combine(RepositoryRoot, "samples", "datasets", file);

    /// <summary>The first documents of a data set in UTF-8.</summary>
    /// <param name="set">The data set.</param>
    /// <param name="most">How many are wanted at most.</param>
    /// <exception cref="IncompleteDataSetException">The set has as many, but the file that is here does not.</exception>
    public static IReadOnlyList<byte[]> Load(DataSet set, int most)
    {
        List<byte[]> documents = [.. Lines(set).Take(most).Select(Encoding.UTF8.GetBytes)];
        int wanted = Math.Min(most, set.Documents);
        if (documents.Count < wanted)
            throw new IncompleteDataSetException(
                $"This needs {wanted:N0} documents of '{set.File}', and {PathOf(set.File)} has {documents.Count:N0}. Put the "
                + $"whole set "
                + $"({set.Origin}) into a folder and name that in {FolderVariable}; '-- data' checks it.");
        return documents;
    }

    /// <summary>Prints where each data set lies and whether it is the whole one; true if all are.</summary>
    public static bool Describe(TextWriter output)
    {
        bool areWhole = true;
        foreach (DataSet set in DataSet.All)
        {
            int count = 0;
            using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
            foreach (string line in Lines(set))
            {
                count++;
                hash.AppendData(Encoding.UTF8.GetBytes(line + "\n"));
            }

            bool isWhole = Convert.ToHexStringLower(hash.GetHashAndReset()) == set.Sha256;
            areWhole &= isWhole;
            string state = isWhole
                ? "whole"
                : count < set.Documents ? $"{count:N0} of {set.Documents:N0} documents" : "not the expected content";
            output.WriteLine($"{set.File}: {state}, {PathOf(set.File)}");
            output.WriteLine($"    from {set.Origin}; SHA-256 of its lines {set.Sha256}");
        }

        return areWhole;
    }

    /// <summary>Whether as many documents are here as the whole set has.</summary>
    public static bool IsWhole(DataSet set) => Lines(set).Skip(set.Documents - 1).Any();

    private static IEnumerable<string> Lines(DataSet set)
    {
        using var reader = new StreamReader(new GZipStream(File.OpenRead(PathOf(set.File)), CompressionMode.Decompress));
        while (reader.ReadLine() is { } line)
            yield return line;
    }

    private static string FindRoot()
    {
        for (DirectoryInfo? folder = new(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
            if (File.Exists(Path.Combine(folder.FullName, "Engine.sln")))
                return folder.FullName;

        throw new InvalidOperationException(
            $"No Engine.sln above {AppContext.BaseDirectory}: run the benchmarks from a checkout.");
    }
}
