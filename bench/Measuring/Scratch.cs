namespace Treepie.Bench.Measuring;

/// <summary>A directory for one measurement, deleted afterwards.</summary>
internal sealed class Scratch : IDisposable
{
    /// <summary>Its path.</summary>
    public string Path { get; } = Directory.CreateTempSubdirectory("treepie-bench-").FullName;

    /// <summary>The total size of the files in it.</summary>
    public long SizeBytes => SizeOf(Path);

    /// <summary>
    /// Returns the total size of the files in a directory. A file that is deleted meanwhile, such as a journal file, is not
    /// counted.
    /// </summary>
    public static long SizeOf(string directory) =>
        new DirectoryInfo(directory).EnumerateFiles("*", SearchOption.AllDirectories)
            .Where(static file => file.Exists) // also caches its length
            .Sum(static file => file.Length);

    /// <inheritdoc/>
    public void Dispose() => Directory.Delete(Path, recursive: true);
}
